extension EventBus {
  /// A report that no subscriber received a posted event.
  ///
  /// The bus posts it on the poster's thread, if it has a subscriber. A tracer does not count as a subscriber of the
  /// posted event. A synchronous handler whose owner has been released does not, either. A mailbox or a sequence that
  /// holds the event counts. An `Undelivered` that no subscriber received is not reported. Inside a handler of
  /// `Undelivered` or ``EventBus/HandlerFailure`` no `Undelivered` is posted, so that reports cannot cause reports
  /// without end.
  public struct Undelivered: BusEvent {
    /// `Undelivered`.
    public static var name: EventName { "Undelivered" }
    /// The event that no subscriber received.
    public let event: any EventBus.Event

    /// Makes the event, for a test of its subscribers.
    ///
    /// - Parameter event: the event that no subscriber received.
    public init(event: any EventBus.Event) { self.event = event }
  }
}
