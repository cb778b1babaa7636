/// What a subscriber with a bounded buffer receives.
public enum Received<Event: Sendable>: Sendable {
  /// An event.
  case event(Event)
  /// The number of events that were lost in this place, between the events received before and after.
  case missed(Int)
}

extension Received: Equatable where Event: Equatable {}
extension Received: Hashable where Event: Hashable {}
