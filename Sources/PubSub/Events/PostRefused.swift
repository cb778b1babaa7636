extension EventBus {
  /// A report that the bus refused a post, because it exceeded the nesting limit.
  ///
  /// The bus that refused the post posts the report once the outermost post has returned, and only for the first
  /// refused post inside it. Inside a handler of `PostRefused`, ``EventBus/Undelivered`` or ``EventBus/HandlerFailure``
  /// no refusal is reported.
  public struct PostRefused: BusEvent {
    /// `PostRefused`.
    public static var name: EventName { "PostRefused" }
    /// The names of the nested events, outermost first; the refused event is the last.
    public let chain: [EventName]

    /// Makes the event, for a test of its subscribers.
    public init(chain: [EventName]) { self.chain = chain }
  }
}
