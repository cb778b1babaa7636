/// A handler threw; posted once for each error, on the thread or task on which the handler ran.
///
/// The error stops no other handler. An error that a handler of `HandlerFailure` throws is dropped.
public struct HandlerFailure: Event {
  /// The subscriber whose handler threw.
  public let subscriber: Subscriber
  /// The event that was being handled.
  public let eventName: EventName
  /// The event; nil where the handler was called for none: with the number of lost events, or where a wait inside it timed out.
  public let event: (any BusEvent)?
  /// The error.
  public let error: any Error
}
