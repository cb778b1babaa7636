/// The result of a post that was waited for: a delivery for each subscriber, in the order of delivery.
public struct DeliveryReport: Sendable {
  /// How a delivery ended.
  public enum Outcome: Sendable, CustomStringConvertible {
    /// The handler has returned. An event sequence counts as soon as it holds the event.
    case delivered
    /// The handler threw.
    case threw(any Error)
    /// The deadline passed first. A handler that ran was cancelled; an event that was still queued was removed.
    case timedOut
    /// The subscription was cancelled before its handler was called.
    case cancelled
    /// The handler waits, perhaps along a chain of waits, for the code that posts, so it was not waited for; it receives the event
    /// later.
    case skipped

    /// The outcome in words.
    public var description: String {
      switch self {
      case .delivered: "delivered"
      case .threw(let error): "threw \(error)"
      case .timedOut: "timed out"
      case .cancelled: "cancelled"
      case .skipped: "skipped"
      }
    }
  }

  /// What became of the event at one subscriber.
  public struct Delivery: Sendable {
    /// The subscriber.
    public let subscriber: Subscriber
    /// How it ended.
    public let outcome: Outcome
    /// The time from the hand-over of the event, queueing included, to the end or the deadline; zero without a hand-over.
    public let duration: Duration
  }

  /// A delivery for each subscriber, in the order of delivery.
  public let deliveries: [Delivery]

  /// The deliveries that the deadline cut short.
  public var stragglers: [Delivery] { deliveries.filter { if case .timedOut = $0.outcome { true } else { false } } }

  /// The deliveries whose handler threw.
  public var failures: [Delivery] { deliveries.filter { if case .threw = $0.outcome { true } else { false } } }
}
