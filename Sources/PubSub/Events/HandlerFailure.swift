/// A handler threw; posted once for each error, on the thread or task on which the handler ran.
///
/// The error stops nobody else. A handler of `HandlerFailure` that throws ends there.
public struct HandlerFailure: Event {
  /// Who threw.
  public let subscriber: Subscriber
  /// The event that was being handled.
  public let eventName: EventName
  /// What was thrown.
  public let error: any Error
}
