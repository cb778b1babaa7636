/// An element that a subscriber with a bounded buffer receives: an event, or the number of lost events.
public enum Received<Event: Sendable>: Sendable {
  /// An event.
  case event(Event)
  /// The number of events that were lost here, between the event received before and the event received next.
  case missed(Int)
}

extension Received: Equatable where Event: Equatable {}
extension Received: Hashable where Event: Hashable {}
