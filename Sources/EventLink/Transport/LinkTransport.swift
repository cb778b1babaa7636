/// What carries messages between processes: a broker with topics, such as one of MQTT.
///
/// Implement it to connect an ``EventLink`` to another kind of broker. `TransportContract` plays the calls
/// that a link makes, in their order.
public protocol LinkTransport: Sendable {
  /// Connects to the broker.
  ///
  /// Each connection begins without subscriptions. After a connection has ended, the link may connect again.
  ///
  /// - Parameters:
  ///   - will: the message that the broker sends if the connection ends without ``disconnect()``; nil for none.
  ///   - receive: called with what happens on the connection, on any thread; it does not block. Messages and the end come one after
  ///     another. An acknowledgement may come at the same time, also on the thread of ``publish(_:number:)``, and after the end.
  /// - Throws: the reason if there is no connection.
  func connect(will: LinkMessage?, receive: @escaping @Sendable (LinkTransportEvent) -> Void) async throws

  /// Subscribes to topics, and returns when the broker has confirmed it.
  ///
  /// - Parameters:
  ///   - filters: topics, in which `+` stands for one level and `#`, at the end, for all levels below.
  ///   - quality: the most careful quality with which the broker sends what matches.
  /// - Throws: the reason if the broker refuses one of them, or the connection has ended.
  func subscribe(to filters: [String], quality: LinkQuality) async throws

  /// Sends a message; any thread may call it, and messages of one topic arrive in the order of the calls.
  ///
  /// A transport may keep it until ``flush()`` or ``disconnect()`` is called.
  ///
  /// - Parameters:
  ///   - message: the message.
  ///   - number: the number for ``LinkTransportEvent/acknowledged(_:)``, which follows for each message.
  /// - Returns: whether the transport has taken it; if not, the connection has ended or is about to.
  @discardableResult func publish(_ message: LinkMessage, number: UInt64) -> Bool

  /// Sends the messages that ``publish(_:number:)`` has kept, so that those of a row leave together.
  ///
  /// A link calls it after each row of messages, on any thread. A transport that keeps none does nothing.
  func flush()

  /// Ends the connection in order, when all messages have been sent; the broker then does not send the will.
  func disconnect() async
}

/// How carefully an event is carried.
public enum LinkQuality: Sendable, Hashable, CaseIterable {
  /// It may be lost where a connection breaks.
  case atMostOnce
  /// It is sent until it arrives, as far as the origin keeps it; a link drops duplicates.
  case atLeastOnce
}

/// A message of a broker.
public struct LinkMessage: Sendable, Hashable {
  /// The topic.
  public var topic: String
  /// The contents.
  public var payload: [UInt8]
  /// How carefully it is carried.
  public var quality: LinkQuality
  /// Whether the broker keeps it for later subscribers; an empty payload then removes what it keeps.
  public var isRetained: Bool

  /// Makes a message.
  ///
  /// - Parameters:
  ///   - topic: the topic.
  ///   - payload: the contents.
  ///   - quality: how carefully it is carried.
  ///   - isRetained: whether the broker keeps it for later subscribers.
  public init(topic: String, payload: [UInt8], quality: LinkQuality, isRetained: Bool = false) {
    (self.topic, self.payload, self.quality, self.isRetained) = (topic, payload, quality, isRetained)
  }
}

/// What happens on a connection of a ``LinkTransport``.
public enum LinkTransportEvent: Sendable, Hashable {
  /// A message has arrived.
  case received(LinkMessage)
  /// The broker has taken the message with this number or, if it is sent at most once, the transport has written it.
  case acknowledged(UInt64)
  /// The connection has ended; no message follows.
  case closed(reason: String)
}
