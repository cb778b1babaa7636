/// An event had no receiver; posted on the poster's thread, if this type has a subscriber.
///
/// A tracer is no receiver, and neither is the synchronous handler of an owner that is gone; a mailbox or a sequence has
/// received what it holds. An `Undelivered` without a receiver is not reported.
public struct Undelivered: Event {
  /// The event without a receiver.
  public let event: any BusEvent
}
