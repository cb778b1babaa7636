import JSONReading

/// The state of a process, as it announces it; the broker keeps the latest announcement.
struct Announcement: Codable, Sendable, Hashable {
  /// The type of the event in CloudEvents.
  static let type = "swift-app-lifecycle.fleet.state"

  /// A state of an application, or `ended` or `vanished`.
  var state: String
  /// Why.
  var cause: String?
  /// Names the connection.
  ///
  /// The will of a connection says that this one has vanished, and nothing about a later one.
  var birth: String
  /// The exit status, if the process has ended in order.
  var status: Int32?
  /// Whether the connection ends in order after it; nil if it lasts.
  var isLast: Bool?
  /// The time of the announcement, by the clock of the process that sends it; a will has that of its connection.
  var time: String

  init(state: String, cause: String?, birth: String, status: Int32? = nil) {
    (self.state, self.cause, self.birth, self.status) = (state, cause, birth, status)
    time = Date.now.formatted(.iso8601)
  }

  static let ended = "ended"
  static let vanished = "vanished"

  /// The will of a connection, to be sent on a topic.
  func will(on topic: String, from origin: String) throws -> LinkMessage {
    let event = CloudEvent(id: birth, source: "\(origin)/will", type: Self.type)
    return LinkMessage(
      topic: topic, payload: event.encoded(with: try CloudEvent.data(of: self)), quality: .atLeastOnce,
      isRetained: true)
  }
}
