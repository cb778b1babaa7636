import AppLifecycle
public import PubSub

extension EventLink {
  /// The events that cross a link.
  ///
  /// A topic carries one type. In a filter for receiving, `+` stands for one level of a topic and `#`, at the end, for all
  /// levels below. A type may be received from several topics.
  public struct Declarations {
    private let hub: LinkHub
    private(set) var topics: [LinkMachine.TopicID] = []
    private(set) var filters: [String] = []
    private(set) var herald: Herald?
    private(set) var fleets: [Fleet] = []
    /// What hears announcements.
    private(set) var hearing: [LinkHub.Receiver] = []

    init(_ hub: LinkHub) { self.hub = hub }

    /// Sends events, and posts those of other processes.
    ///
    /// - Parameters:
    ///   - type: the events.
    ///   - topic: the topic.
    ///   - quality: how carefully they are carried.
    ///   - coding: how their data is written; nil for JSON. Of two declarations of a topic the first one's counts.
    /// - Throws: ``LinkError/notATopic(_:)``, ``LinkError/twoTypes(topic:)`` or ``LinkError/twoQualities(topic:)``.
    public mutating func share<E: EventBus.Event & Codable>(
      _ type: E.Type, as topic: String, quality: LinkQuality = .atMostOnce, coding: Coding<E>? = nil
    ) throws(LinkError) {
      try send(type, as: topic, quality: quality, coding: coding)
      try receive(type, as: topic, coding: coding)
    }

    /// Sends the events that this process posts; the broker keeps the latest one of a sticky type.
    ///
    /// - Parameters:
    ///   - type: the events.
    ///   - topic: the topic.
    ///   - quality: how carefully they are carried.
    ///   - coding: how their data is written; nil for JSON. Of two declarations of a topic the first one's counts.
    /// - Throws: ``LinkError/notATopic(_:)``, ``LinkError/twoTypes(topic:)`` or ``LinkError/twoQualities(topic:)``.
    public mutating func send<E: EventBus.Event & Encodable>(
      _ type: E.Type, as topic: String, quality: LinkQuality = .atMostOnce, coding: Coding<E>? = nil
    ) throws(LinkError) {
      try check(type, topic)
      topics.append(try hub.send(type, as: topic, quality: quality, coding: coding))
    }

    /// Posts the events of other processes, those of a main-actor type on the main actor.
    ///
    /// - Parameters:
    ///   - type: the events.
    ///   - filter: the topic, or a filter of topics.
    ///   - coding: how their data is written; nil for JSON.
    /// - Throws: ``LinkError/notATopic(_:)`` or ``LinkError/twoTypes(topic:)``.
    public mutating func receive<E: EventBus.Event & Decodable>(
      _ type: E.Type, as filter: String, coding: Coding<E>? = nil
    ) throws(LinkError) {
      guard let read = TopicFilter(filter) else { throw .notATopic(filter) }
      try hub.declare(type, on: filter)
      if !filters.contains(filter) { filters.append(filter) }
      hub.receive(type, on: read, coding: coding)
    }

    /// Announces the life cycle of the application on a topic, for the fleets of others; see ``Fleet``.
    ///
    /// The broker keeps the latest state. If the connection is lost, the broker announces that the process has vanished. As the link
    /// is closed, it announces the last state before: *ended* with the exit status, *suspended* or *background*. So a program that
    /// Ctrl-Z may stop keeps its link `while: .foreground`: a stopped process cannot answer its broker, and is taken for dead.
    ///
    /// - Parameter topic: the topic, which belongs to this process alone.
    /// - Throws: ``LinkError/notATopic(_:)``, ``LinkError/twoTypes(topic:)`` or ``LinkError/announcesAlready(as:)``.
    public mutating func announceLifeCycle(as topic: String) throws(LinkError) {
      guard let filter = TopicFilter(topic), filter.isTopic else { throw .notATopic(topic) }
      // A broker sends one will for a connection.
      if let herald { throw .announcesAlready(as: herald.topic) }
      try hub.declare(Application.StateDidChange.self, on: topic)
      let herald = Herald(topic, hub.announce(on: topic))
      topics.append(herald.number)
      self.herald = herald
      if !filters.contains(topic) { filters.append(topic) }
      hearing.append(
        LinkHub.hearing(on: filter) { [hub, weak herald] announcement, _, _ in
          guard let announcement, let herald, herald.isOutdated(announcement) else { return }
          herald.announceAgain(hub)
        })
    }

    /// Follows the life cycles that are announced on the topics of a filter.
    ///
    /// - Parameters:
    ///   - fleet: the fleet, which follows one link.
    ///   - filter: the topic, or a filter of topics.
    /// - Throws: ``LinkError/notATopic(_:)``.
    public mutating func follow(_ fleet: Fleet, on filter: String) throws(LinkError) {
      guard let read = TopicFilter(filter) else { throw .notATopic(filter) }
      if !filters.contains(filter) { filters.append(filter) }
      fleets.append(fleet)
      hearing.append(
        LinkHub.hearing(on: read) { [weak fleet] announcement, topic, bus in
          fleet?.take(announcement, on: topic, bus)
        })
    }

    private func check(_ type: any EventBus.Event.Type, _ topic: String) throws(LinkError) {
      guard TopicFilter(topic)?.isTopic == true else { throw .notATopic(topic) }
      try hub.declare(type, on: topic)
    }
  }
}
