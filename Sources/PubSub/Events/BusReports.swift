/// Nobody received an event; posted on the poster's thread while somebody subscribes to this.
///
/// A tracer is no receiver, and neither is the synchronous handler of an owner that is gone; a mailbox or a sequence has
/// received what it holds. An `Undelivered` that nobody receives is not reported.
public struct Undelivered: Event {
  /// What nobody received.
  public let event: any BusEvent
}

/// A post was refused because too many were nested in one another; posted once the outermost of them has returned.
///
/// It is posted on the bus that refused. Only the first one refused meanwhile is reported, and none that is refused while a
/// report is being delivered: nothing that its handlers do begets another.
public struct PostRefused: Event {
  /// The names of the events whose posts were nested, outermost first; the refused one is the last.
  public let chain: [EventName]
}
