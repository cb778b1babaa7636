extension EventBus {
  /// A report that the bus refused a post, because it exceeded the nesting limit.
  ///
  /// The bus that refused the post posts the report once the outermost post has returned. Of several refused posts
  /// inside one outermost post only the first is reported. A post that is refused inside a handler of `PostRefused`,
  /// ``EventBus/Undelivered`` or ``EventBus/HandlerFailure`` is not reported, so that reports cannot cause reports
  /// without end.
  public struct PostRefused: BusEvent {
    /// `PostRefused`.
    public static var name: EventName { "PostRefused" }
    /// The names of the nested events, outermost first; the refused event is the last.
    public let chain: [EventName]

    /// Makes the event, for a test of its subscribers.
    ///
    /// - Parameter chain: the names of the nested events, outermost first.
    public init(chain: [EventName]) { self.chain = chain }
  }
}
