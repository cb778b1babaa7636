/// The result of `postAndWait`: a delivery for each subscriber that the post reached, in the order of delivery.
public struct DeliveryReport: Sendable {
  /// How a delivery ended; a later version may add cases.
  @nonexhaustive public enum Outcome: Sendable, CustomStringConvertible {
    /// The handler returned, or an event sequence holds the event.
    case delivered
    /// The handler threw this error.
    case threw(any Error)
    /// The deadline passed first: a handler that ran was cancelled, and an event that was still queued was removed.
    case timedOut
    /// The subscription ended while its event waited; one that ended before the post reached it is not in the report.
    case cancelled
    /// The post did not wait, because the handler waits for the posting code, directly or along a chain of waits; it
    /// receives the event later.
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

  /// The delivery of the event to one subscriber.
  public struct Delivery: Sendable {
    /// The subscriber.
    public let subscriber: EventBus.Subscriber
    /// The outcome of the delivery.
    public let outcome: Outcome
    /// The time from the delivery to the mailbox or the call to the handler's end, the cancellation or the deadline,
    /// including the wait in the queue.
    ///
    /// It is zero if the deadline had passed before the delivery, if the outcome is `skipped`, and for a sequence.
    public let duration: Duration

    /// Makes a delivery, for a test of code that reads reports.
    public init(subscriber: EventBus.Subscriber, outcome: Outcome, duration: Duration = .zero) {
      (self.subscriber, self.outcome, self.duration) = (subscriber, outcome, duration)
    }
  }

  /// A delivery for each subscriber that the post reached, in the order of delivery.
  public let deliveries: [Delivery]

  /// Whether the bus refused the post, or the rest of it, because it was nested too deep (``EventBus/PostRefused``);
  /// only subscribers among the ``deliveries`` have received the event.
  public let isRefused: Bool

  /// Makes a report, for a test of code that reads reports.
  public init(deliveries: [Delivery], isRefused: Bool = false) {
    (self.deliveries, self.isRefused) = (deliveries, isRefused)
  }

  /// The deliveries that timed out.
  public var stragglers: [Delivery] { deliveries.filter { if case .timedOut = $0.outcome { true } else { false } } }

  /// The deliveries whose handler threw.
  public var failures: [Delivery] { deliveries.filter { if case .threw = $0.outcome { true } else { false } } }
}
