extension EventBus {
  /// An element of an event sequence with a bounded buffer: an event, or the number of lost events.
  public enum Received<Event: Sendable>: Sendable {
    /// An event.
    case event(Event)
    /// The number of events that were lost here, between the event received before and the event received next.
    case missed(Int)
  }
}

extension EventBus.Received: Equatable where Event: Equatable {}
extension EventBus.Received: Hashable where Event: Hashable {}
