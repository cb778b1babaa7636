/// The event that a handler threw an error; it is posted once for each error, on the thread or task of the handler.
///
/// The error stops no other handler. An error of a handler for which `postAndWait` waits is in its report, and is not
/// posted. The life cycle does not post its notifications by `postAndWait`: an error of their handlers is posted as
/// `HandlerFailure`, also if the application waits for the handler, as at `DidEnterBackground`. An error that a handler of `HandlerFailure` throws is dropped.
public struct HandlerFailure: Event {
  /// The subscriber whose handler threw.
  public let subscriber: Subscriber
  /// The event that was being handled.
  public let eventName: EventName
  /// The event; nil if the handler was called with a number of lost events, or if a wait inside the handler timed out.
  public let event: (any BusEvent)?
  /// The error.
  public let error: any Error
}
