/// Nobody received an event; posted on the poster's thread while somebody subscribes to this.
///
/// A tracer is no receiver. An `Undelivered` that nobody receives is not reported.
public struct Undelivered: Event {
  /// What nobody received.
  public let event: any BusEvent
}

/// A post was refused because too many were nested in one another; posted once the outermost of them has returned.
///
/// Only the first one refused meanwhile is reported.
public struct PostRefused: Event {
  /// The names of the events whose posts were nested, outermost first; the refused one is the last.
  public let chain: [EventName]
}
