extension EventBus {
  /// The event that a posted event had no receiver; it is posted on the poster's thread, if it has a subscriber.
  ///
  /// A tracer does not count as a receiver. A synchronous handler whose owner has been released does not, either. A
  /// mailbox or a sequence that holds the event counts. An `Undelivered` without a receiver is not reported. Inside a
  /// handler of `Undelivered` or ``EventBus/HandlerFailure`` no `Undelivered` is posted, so that reports cannot cause
  /// reports without end.
  public struct Undelivered: BusEvent {
    /// The event without a receiver.
    public let event: any EventBus.Event
  }
}
