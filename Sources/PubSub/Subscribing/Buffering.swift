extension EventBus {
  /// The number of events that a mailbox or an event sequence holds, and which event is dropped when it is full.
  public struct Buffering: Sendable, Hashable {
    /// The event that is dropped when a full buffer receives another one.
    public enum Dropping: Sendable, Hashable {
      /// The event that has waited longest: the events that are held are later than the lost ones.
      case oldest
      /// The event that arrives: the events that are held are earlier than the lost ones.
      case newest
    }

    let limit: Int
    /// Nil without a limit.
    let dropping: Dropping?

    /// A buffer without a limit: no event is lost.
    public static let unbounded = EventBus.Buffering(limit: .max, dropping: nil)

    /// A buffer that holds a limited number of events.
    ///
    /// In the place of dropped events, the bus calls the closure `missed:` of `receive` with their number, and a
    /// sequence has ``EventBus/Received/missed(_:)``. The event that the handler is handling does not count toward the
    /// limit, nor do events of `postAndWait`, which are never dropped.
    ///
    /// - Parameters:
    ///   - limit: the largest number of events that wait; with zero or less every event is reported as missed.
    ///   - dropping: the event that is dropped when a full buffer receives another one.
    /// - Returns: the bounded buffering.
    public static func bounded(_ limit: Int, dropping: Dropping) -> EventBus.Buffering {
      EventBus.Buffering(limit: limit, dropping: dropping)
    }
  }
}
