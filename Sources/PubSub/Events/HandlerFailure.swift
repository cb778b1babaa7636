/// The event that a handler threw an error, or gave up a wait; it is posted on the thread or task of the handler.
///
/// The error stops no other handler. If `postAndWait` waits for the handler, an error before the deadline is in its
/// report, and is not posted. A later error, and the error of a skipped handler, is posted. A later `CancellationError`
/// is dropped.
///
/// The life cycle does not post its notifications by `postAndWait`: an error of their handlers is posted as
/// `HandlerFailure`, also if the application waits for the handler, as at `DidEnterBackground`. If it waits for an
/// asynchronous handler, the error is posted on the main actor after the wait. An error that a handler of
/// `HandlerFailure` throws is dropped.
public struct HandlerFailure: Event {
  /// The subscriber whose handler threw, or whose handler gave up a wait.
  public let subscriber: Subscriber
  /// The event that was being handled.
  public let eventName: EventName
  /// The event; nil if the handler was called with a number of lost events, or if the error is a ``DrainTimeout``.
  public let event: (any BusEvent)?
  /// The error.
  public let error: any Error
}
