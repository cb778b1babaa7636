public import PubSub

extension EventLink {
  /// Events of another process that will not arrive; posted before the next one of that origin and topic.
  public struct DidMiss: BusEvent {
    /// The topic.
    public let topic: String
    /// The identifier of the link that sent them.
    public let origin: String
    /// Their number.
    public let count: Int

    /// Makes the event, for tests of handlers.
    ///
    /// - Parameters:
    ///   - topic: the topic.
    ///   - origin: the identifier of the link that sent them.
    ///   - count: their number.
    public init(topic: String, origin: String, count: Int) {
      (self.topic, self.origin, self.count) = (topic, origin, count)
    }
  }

  /// Events of this process that a link has dropped, because too many waited.
  public struct DidDrop: BusEvent {
    /// The link, which is also the subject of the post.
    public let link: EventLink
    /// The topic.
    public let topic: String
    /// Their number.
    public let count: Int
  }

  /// The broker has taken events of this process that are sent at least once.
  public struct DidAcknowledge: BusEvent {
    /// The link, which is also the subject of the post.
    public let link: EventLink
    /// The topic.
    public let topic: String
    /// The number of the last of them: the events that this process has posted on the topic are counted from 1.
    public let number: Int
  }

  /// A payload that is not posted, or an event that is not sent.
  public struct DidReject: BusEvent {
    /// The topic.
    public let topic: String
    /// What is wrong with it.
    public let reason: String

    /// Makes the event, for tests of handlers.
    ///
    /// - Parameters:
    ///   - topic: the topic.
    ///   - reason: what is wrong with it.
    public init(topic: String, reason: String) { (self.topic, self.reason) = (topic, reason) }
  }
}
