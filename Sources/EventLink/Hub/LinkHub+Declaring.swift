import AppLifecycle
import PubSub
import Scheduling

extension LinkHub {
  /// Notes that a topic or filter carries events of a type.
  ///
  /// - Throws: ``LinkError/twoTypes(topic:)`` if it carries another one.
  func declare(_ type: any EventBus.Event.Type, on text: String) throws(LinkError) {
    let isKnown = declarations.withLock { declarations in
      let known = declarations.types[text] ?? ObjectIdentifier(type)
      declarations.types[text] = known
      return known == ObjectIdentifier(type)
    }
    if !isKnown { throw .twoTypes(topic: text) }
  }

  /// Adds a link, what it carries, and what hears announcements as long as it exists.
  func add(
    _ link: EventLink, carrying topics: [LinkMachine.TopicID], hearing receivers: [Receiver]
  ) -> LinkMachine.LinkID {
    let number = declarations.withLock { declarations in
      declarations.nextLink += 1
      declarations.links[declarations.nextLink] = WeakLink(link, receivers)
      return declarations.nextLink
    }
    machine.withLock { $0.addLink(number, carrying: topics) }
    return number
  }

  func remove(_ link: LinkMachine.LinkID) {
    declarations.withLock { $0.links[link] = nil }
    take(.removed(link))
  }

  /// Lets a link send nothing more on a connection that is about to end: what the transport then refuses would be lost.
  func stopSending(by link: LinkMachine.LinkID, _ connection: Int) {
    machine.withLock { $0.stopSending(by: link, connection) }
  }

  /// Whether another link of the bus is open and announces the life cycle on a topic.
  func isAnnounced(on topic: String, besides number: LinkMachine.LinkID) -> Bool {
    let others = declarations.withLock { $0.links.filter { $0.key != number }.values.map(\.link) }
    return others.contains { $0?.herald?.topic == topic && $0?.isOpen == true }
  }

  /// Adds a topic on which events are sent; the bus has one subscription for all its links.
  func send<E: EventBus.Event & Encodable>(
    _ type: E.Type, as topic: String, quality: LinkQuality, coding: EventLink.Coding<E>?
  ) throws(LinkError) -> LinkMachine.TopicID {
    let isSticky = type is any StickyEvent.Type
    let (number, isNew, known) = addTopic(topic, type.name.rawValue, quality, isSticky, coding?.mediaType)
    guard known == quality else { throw .twoQualities(topic: topic) }
    guard isNew else { return number }
    let encode = CloudEvent.encoder(coding)
    // The handlers of this priority are called first: one that posts once more must not come before the link has numbered the event.
    let first = EventBus.Priority(rawValue: type.isReversed ? .min : .max)
    let subscription = bus.subscribe(toEither: type, priority: first, label: "EventLink") { [self] event in
      guard !LinkPassage.isUnderWay(on: bus) else { return }
      post(on: number, change: isSticky ? EventBus.changeOfLatest : nil) { try encode(event) }
    }
    declarations.withLock { $0.subscriptions.append(subscription) }
    return number
  }

  /// Adds a topic on which the state of the process is announced.
  func announce(on topic: String) -> LinkMachine.TopicID {
    addTopic(topic, Announcement.type, .atLeastOnce, true, nil).number
  }

  private func addTopic(
    _ topic: String, _ type: String, _ quality: LinkQuality, _ isSticky: Bool, _ mediaType: String?
  ) -> (number: LinkMachine.TopicID, isNew: Bool, quality: LinkQuality) {
    machine.withLock { machine in
      let count = machine.topics.count
      let number = machine.addTopic(topic, type: type, quality: quality, isSticky: isSticky, mediaType: mediaType)
      // Before another thread can find the topic.
      if number == count {
        let most = max(machine.mostWaiting(of: number), Inbox.leastOfTopic)
        inbox.withLock { $0.numbers.append(.init(isSticky: isSticky, most: most)) }
      }
      return (number, number == count, machine.topics[number].quality)
    }
  }

  /// Removes the latest event of a sticky type here and at the brokers.
  func removeLatest<E: EventBus.Event>(of type: E.Type) {
    let change = bus.numberedRemoval(of: type)
    // Types of two modules may have one name, and the topics of announcements are declared with a type that is not sent on them.
    let types = declarations.withLock { $0.types }
    let topics = machine.withLock { machine in
      machine.topics.indices.filter { id in
        let topic = machine.topics[id]
        return topic.isSticky && topic.type == type.name.rawValue && types[topic.name] == ObjectIdentifier(type)
      }
    }
    for topic in topics { post(on: topic, change: change) { nil } }
  }

  /// Adds a type that is received on the topics of a filter; events of a main-actor type are posted on the main actor.
  func receive<E: EventBus.Event & Decodable>(
    _ type: E.Type, on filter: TopicFilter, coding: EventLink.Coding<E>?
  ) {
    let onMainActor = type is any MainActorEvent.Type
    let key = ObjectIdentifier(type)
    let isSticky = type is any StickyEvent.Type
    let decode = CloudEvent.decoder(coding)
    let receiver = Receiver(
      filter: filter, type: key, name: type.name.rawValue, isSticky: isSticky,
      post: { [self] bus, payload, topic throws(LinkFormatError) in
        let event = try decode(payload)
        return Self.step(onMainActor) { [self] in
          latestDidChange(LinkPassage.post(event, on: bus), on: topic)
        }
      },
      removeLatest: { [self] bus, topic in
        guard isSticky else { return nil }
        return Self.step(onMainActor) { [self] in
          latestDidChange(bus.numberedRemoval(of: type), on: topic)
        }
      })
    declarations.withLock { declarations in
      guard !declarations.receivers.contains(where: { $0.filter == filter && $0.type == key }) else { return }
      declarations.receivers.append(receiver)
    }
  }

  /// Returns a step that calls `body` on the main actor, or calls it at once.
  private static func step(_ onMainActor: Bool, _ body: @escaping @Sendable () -> Void) -> Step? {
    if onMainActor { return { await MainActor.run(body: body) } }
    body()
    return nil
  }

  /// Notes how many own events the bus has had before the latest one, which came over a link, or before its removal.
  ///
  /// The machine is told of own events later, and would take the last one for the latest.
  private func latestDidChange(_ change: Int, on topic: String) {
    guard change > 0 else { return }
    machine.withLock { machine in
      guard let number = machine.topics.firstIndex(where: { $0.name == topic }) else { return }
      machine.latest[topic]?.ownBefore = inbox.withLock { inbox in
        let own = inbox.numbers[number]
        inbox.numbers[number].change = max(own.change, change)
        return own.change < change ? own.event : own.event - 1
      }
    }
  }

  /// Makes what takes the announcements on the topics of a filter; nil stands for the empty one, which removes.
  static func hearing(
    on filter: TopicFilter, _ take: @escaping @Sendable @MainActor (Announcement?, String, EventBus) -> Void
  ) -> Receiver {
    Receiver(
      filter: filter, type: nil, name: Announcement.type, isSticky: false,
      post: { bus, payload, topic throws(LinkFormatError) in
        let announcement = try CloudEvent.data(of: payload, as: Announcement.self)
        return { await take(announcement, topic, bus) }
      }, removeLatest: { bus, topic in { await take(nil, topic, bus) } })
  }

  /// The receivers of a topic, one for each type, and those of announcements.
  func receivers(of topic: String) -> [Receiver] {
    declarations.withLock { declarations in
      if let known = declarations.receiversOfTopics[topic] { return known }
      var types: Set<ObjectIdentifier> = []
      let hearing = declarations.links.sorted { $0.key < $1.key }.flatMap(\.value.receivers)
      let receivers = (declarations.receivers + hearing).filter { receiver in
        receiver.filter.matches(topic) && (receiver.type.map { types.insert($0).inserted } ?? true)
      }
      guard topic.utf8.count <= TopicFilter.longest else { return receivers }
      if declarations.receiversOfTopics.count == 1_000 { declarations.receiversOfTopics = [:] }
      declarations.receiversOfTopics[topic] = receivers
      return receivers
    }
  }
}
