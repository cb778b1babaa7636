import AppLifecycle
import PubSub
import Scheduling

/// Announces the life cycle of an application on a topic.
final class Herald: Sendable {
  let topic: String
  let number: LinkMachine.TopicID
  private let state = Guarded(State())

  private struct State {
    /// Names the present connection.
    var birth: String?
    var will: LinkMessage?
    var latest: Announcement?
  }

  init(_ topic: String, _ number: LinkMachine.TopicID) { (self.topic, self.number) = (topic, number) }

  /// Begins the life of a connection, and returns its will.
  func connects(_ hub: LinkHub) throws -> LinkMessage {
    let name = String(UInt64.random(in: 1 << 60 ... .max), radix: 16)
    let message = try Announcement(state: Announcement.vanished, cause: nil, birth: name)
      .will(on: topic, from: hub.origin)
    state.withLock { ($0.birth, $0.will) = (name, message) }
    return message
  }

  /// The connection is over: until the next one, there is nothing to announce.
  func connectionDidEnd() { state.withLock { $0.birth = nil } }

  /// The will of the present connection.
  var presentWill: LinkMessage? { state.withLock { $0.will } }

  /// Announces the present state, or the end of the connection.
  @MainActor func announce(_ application: Application, _ hub: LinkHub, isLast: Bool = false) {
    let birth = state.withLock { state in
      defer { if isLast { state.birth = nil } }
      return state.birth
    }
    guard let birth else { return }
    var announcement = Announcement(
      state: application.present.state.rawValue, cause: application.presentCause?.rawValue, birth: birth)
    if isLast { announcement.isLast = true }
    if isLast, application.isEnding {
      (announcement.state, announcement.status) = (Announcement.ended, application.exitStatus)
    } else if isLast, application.isBeingSuspended {
      announcement.state = ApplicationState.suspended.rawValue
    }
    state.withLock { [announcement] in $0.latest = announcement }
    announceAgain(hub)
  }

  /// Announces the latest state once more, because the broker has something else.
  func announceAgain(_ hub: LinkHub) {
    guard let announcement = state.withLock({ $0.latest }) else { return }
    hub.post(on: number) { try CloudEvent.data(of: announcement) }
  }

  /// The latest announcement as a message that needs no acknowledgement; nil if there is none.
  func lastMessage(from origin: String) -> LinkMessage? {
    guard let announcement = state.withLock({ $0.latest }), let data = try? CloudEvent.data(of: announcement) else {
      return nil
    }
    let event = CloudEvent(id: announcement.birth, source: "\(origin)/last", type: Announcement.type)
    return LinkMessage(topic: topic, payload: event.encoded(with: data), quality: .atMostOnce, isRetained: true)
  }

  /// Whether an announcement on this topic is the will of an earlier connection, and so not true.
  func isOutdated(_ announcement: Announcement) -> Bool {
    guard let birth = state.withLock({ $0.birth }) else { return false }
    return announcement.state == Announcement.vanished && announcement.birth != birth
  }
}
