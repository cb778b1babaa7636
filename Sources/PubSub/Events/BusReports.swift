/// An event had no receiver; posted on the poster's thread, if this type has a subscriber.
///
/// A tracer is no receiver, and neither is the synchronous handler of an owner that is gone; a mailbox or a sequence has
/// received what it holds. An `Undelivered` without a receiver is not reported.
public struct Undelivered: Event {
  /// The event without a receiver.
  public let event: any BusEvent
}

/// A post exceeded the nesting limit and was refused; posted once the outermost post has returned.
///
/// It is posted on the bus that refused. Only the first refused post is reported, and none that is refused while a report is
/// being delivered, so that a report cannot lead to another.
public struct PostRefused: Event {
  /// The names of the events whose posts were nested, outermost first; the refused one is the last.
  public let chain: [EventName]
}
