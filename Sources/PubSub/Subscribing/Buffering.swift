/// How many events an asynchronous handler or an event sequence holds until they are handled.
public struct Buffering: Sendable, Hashable {
  /// Which event is dropped when there is one too many.
  public enum Dropping: Sendable, Hashable {
    /// The event that has waited longest: what is held was posted after what was lost.
    case oldest
    /// The event that arrives: what is held was posted before what was lost.
    case newest
  }

  struct Bound: Hashable {
    var limit: Int
    var dropping: Dropping
  }

  let bound: Bound?

  /// A buffer without a limit: no event is lost.
  public static let unbounded = Buffering(bound: nil)

  /// A buffer that holds a limited number of events.
  ///
  /// ``Received/missed(_:)`` stands in the place of dropped events. The limit counts neither the event that a handler is running with, nor those of `postAndWait`, which are never dropped.
  ///
  /// - Parameters:
  ///   - limit: the most events that are held. Zero or less holds none: every event is reported as missed.
  ///   - dropping: which event goes when one more comes.
  /// - Returns: the bounded buffering.
  public static func bounded(_ limit: Int, dropping: Dropping) -> Buffering {
    Buffering(bound: Bound(limit: limit, dropping: dropping))
  }
}
