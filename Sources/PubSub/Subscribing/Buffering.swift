/// How many events an asynchronous handler or an event sequence holds until they are handled.
public struct Buffering: Sendable, Hashable {
  /// Which event is dropped when there is one too many.
  public enum Dropping: Sendable, Hashable {
    /// The one that has waited longest: what comes is newer than what was lost.
    case oldest
    /// The one that comes: what is held was posted before what was lost.
    case newest
  }

  struct Bound: Hashable {
    var limit: Int
    var dropping: Dropping
  }

  let bound: Bound?

  /// As many as come; nothing is lost.
  public static let unbounded = Buffering(bound: nil)

  /// At most so many; each loss is told in band, where it happened, as ``Received/missed(_:)``.
  ///
  /// The event that a handler is running with does not count, and neither do those of ``EventBus/postAndWait``, which are
  /// never dropped.
  ///
  /// - Parameters:
  ///   - limit: the most events that are held. Zero, or less, holds none: every event is told as missed.
  ///   - dropping: which event goes when one more comes.
  /// - Returns: the bounded buffering.
  public static func bounded(_ limit: Int, dropping: Dropping) -> Buffering {
    Buffering(bound: Bound(limit: limit, dropping: dropping))
  }
}

/// What a subscriber with a bounded buffer receives.
public enum Received<Event: Sendable>: Sendable {
  /// An event.
  case event(Event)
  /// So many events were lost, here: after what was received before and before what is received next.
  case missed(Int)
}

extension Received: Equatable where Event: Equatable {}
extension Received: Hashable where Event: Hashable {}
