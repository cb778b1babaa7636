extension EventBus {
  /// A report that no subscriber received an event; the bus posts it on the poster's thread.
  ///
  /// A tracer does not count as a subscriber, nor does a synchronous handler whose owner has been released. A mailbox
  /// or a sequence that holds the event counts. Inside a handler of `Undelivered` or ``EventBus/HandlerFailure`` no
  /// `Undelivered` is posted.
  public struct Undelivered: BusEvent {
    /// `Undelivered`.
    public static var name: EventName { "Undelivered" }
    /// The event that no subscriber received.
    public let event: any EventBus.Event

    /// Makes the event, for a test of its subscribers.
    public init(event: any EventBus.Event) { self.event = event }
  }
}
