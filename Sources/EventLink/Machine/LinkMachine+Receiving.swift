import AppLifecycle

// What arrives, in which order it is posted, and what is missed.

/// What one origin has sent on one topic, as far as it has arrived.
struct IncomingTopic: Sendable {
  struct Key: Hashable, Comparable, Sendable {
    let origin: String
    let topic: String

    static func < (one: Self, other: Self) -> Bool { (one.topic, one.origin) < (other.topic, other.origin) }
  }

  /// The number of the last event that was posted, or counted as missed.
  var last: Int
  /// The greatest number that is known to have been sent.
  var known: Int
  /// Whether its events are sent at least once.
  var isCareful: Bool
  /// Whether the origin may be expected to send again what is missing: it has not yet failed to.
  var answers = true
}

/// The `source` and `id` of an event, which name it among all events.
struct EventIdentity: Hashable, Sendable {
  let source: String
  let id: String
}

/// What the bus has as the latest event of a sticky topic.
struct LatestEvent: Sendable {
  /// The event; nil if it was removed.
  let event: CloudEvent?
  /// The links whose broker has given it, or has taken it away; none as long as no broker has the own event.
  ///
  /// Whatever such a link brings next is later in the order of its broker.
  var links: Set<LinkMachine.LinkID>
  /// The number of the last own event that the bus had before it, and that the machine may be told of later.
  var ownBefore = 0
}

extension LinkMachine {
  /// The longest payload that a link takes.
  static var longestPayload: Int { 1 << 20 }

  /// Takes a message that has arrived.
  ///
  /// - Parameters:
  ///   - message: the message.
  ///   - isSticky: whether the topic has a sticky type here.
  ///   - isReceived: whether anything here takes it; what other links of the broker exchange is not to be asked for.
  ///   - link: the link.
  ///   - now: the present time.
  mutating func receive(
    _ message: LinkMessage, isSticky: Bool, isReceived: Bool = true, by link: LinkID, at now: Duration
  ) {
    guard message.topic.utf8.count <= TopicFilter.longest else {
      return outputs.append(.rejected(topic: message.topic.cut(toScalars: 100), reason: "its topic is too long"))
    }
    if message.payload.isEmpty {
      let type = latest[message.topic]?.event?.type
      // Of a topic that is not known as a sticky one, no link has brought anything that is later.
      if latest[message.topic] != nil {
        guard isLatestAgain(nil, on: message.topic, by: link) else { return }
      } else if isSticky {
        latest[message.topic] = LatestEvent(event: nil, links: [link])
      }
      return outputs.append(.removeLatest(topic: message.topic, type: type))
    }
    guard message.payload.count <= Self.longestPayload else {
      return reject(message, "it has more than 1 MiB, the most that a link takes")
    }
    let event: CloudEvent
    do throws(LinkFormatError) { event = try CloudEvent(message.payload, after: former) } catch {
      return reject(message, error.description)
    }
    former = event
    let isSticky = isSticky || event.type == Announcement.type
    if event.source == origin { return didHearOwn(event, message, isSticky: isSticky, by: link) }
    if message.topic == requests {
      guard event.control == .request, let number = event.number else {
        return reject(message, "it is no request")
      }
      return answer(event.id, after: number, by: link)
    }
    guard isReceived else { return }
    guard let number = event.numberOfLink else {
      guard event.control == nil else { return reject(message, "it has no number") }
      let name = EventIdentity(source: event.source, id: event.id)
      if foreign[name] == nil {
        foreign[name] = true
        if isSticky { latest[message.topic] = LatestEvent(event: event, links: [link]) }
      } else {
        guard isSticky, isPostedAgain(event, on: message.topic, by: link) else { return }
      }
      return outputs.append(.post(topic: message.topic, payload: message.payload))
    }
    let key = IncomingTopic.Key(origin: event.source, topic: message.topic)
    switch event.control {
    case nil: take(message, event, number, key, isSticky: isSticky, by: link, at: now)
    case .head: didHear(number, key, by: link, at: now)
    case .gap: giveUp(event.firstOfGap, number, key, by: link, at: now)
    case .request where Self.isRequestTopic(message.topic): break
    case .request: reject(message, "a request belongs to the topic of its origin")
    }
  }

  // MARK: Sticky events

  /// Whether an event that was posted before, or a removal, is what the bus must have as the latest of a sticky topic again.
  ///
  /// It is, if the link has brought what the bus has, or those that have are gone: the broker's order decides. If not, the link may only
  /// be behind: behind another link of the bus, or behind an own event that its broker will have later.
  ///
  /// - Parameters:
  ///   - event: the event; nil for a removal.
  ///   - topic: the topic.
  ///   - link: the link that brings it.
  /// - Returns: whether it is, and is noted.
  private mutating func isLatestAgain(_ event: CloudEvent?, on topic: String, by link: LinkID) -> Bool {
    guard var present = latest[topic] else { return false }
    let isAnother = present.event != event
    let isOfNone = !present.links.isEmpty && present.links.allSatisfy { links[$0] == nil }
    guard !isAnother || present.links.contains(link) || isOfNone else { return false }
    if isAnother { present = LatestEvent(event: event, links: []) }
    present.links.insert(link)
    latest[topic] = present
    return isAnother
  }

  /// Whether an event of a sticky topic that was posted before is posted again.
  ///
  /// Fleets take an announcement again that still is the latest: one that the broker gives again on a new connection holds. What is
  /// the latest may have been forgotten, among many topics; then the broker has it.
  private mutating func isPostedAgain(_ event: CloudEvent, on topic: String, by link: LinkID) -> Bool {
    if latest[topic] == nil {
      latest[topic] = LatestEvent(event: event, links: [link])
      return true
    }
    let stillHolds = event.type == Announcement.type && latest[topic]?.event == event
    return isLatestAgain(event, on: topic, by: link) || stillHolds
  }

  /// An event of this process was posted, or the latest one was removed here; the brokers get it later.
  mutating func didPost(_ content: OutgoingTopic.Content, _ number: Int, onSticky topic: String, type: String) {
    guard number > latest[topic]?.ownBefore ?? 0 else { return }
    var event: CloudEvent? = CloudEvent(id: Self.id(number, on: topic), source: origin, type: type, number: number)
    if case .removal = content { event = nil }
    latest[topic] = LatestEvent(event: event, links: [])
  }

  /// An own event has come back from the broker.
  ///
  /// It is posted where something else has taken its place here, and not at the broker. A fleet shows its own process, too.
  private mutating func didHearOwn(_ event: CloudEvent, _ message: LinkMessage, isSticky: Bool, by link: LinkID) {
    guard isSticky else { return }
    // Instead of an earlier one, the later one that has replaced it here is posted as it comes back.
    let isLatest = topics.contains { $0.name == message.topic && $0.last == event.number }
    let isBack =
      (isLatest || latest[message.topic]?.event == event) && isLatestAgain(event, on: message.topic, by: link)
    if event.type == Announcement.type || isBack {
      outputs.append(.post(topic: message.topic, payload: message.payload))
    }
  }

  private mutating func reject(_ message: LinkMessage, _ reason: String) {
    outputs.append(.rejected(topic: message.topic, reason: reason))
  }

  private mutating func take(
    _ message: LinkMessage, _ event: CloudEvent, _ number: Int, _ key: IncomingTopic.Key, isSticky: Bool,
    by link: LinkID, at now: Duration
  ) {
    // A bridge between brokers may carry an event with less care than its origin asked for.
    let known = incoming[key]
    let wasCareful = known?.isCareful ?? false
    let isCareful =
      !isSticky && (wasCareful || message.quality == .atLeastOnce && Self.canBeAsked(key.origin))
    var topic = known ?? IncomingTopic(last: number - 1, known: number, isCareful: isCareful)
    defer { incoming[key] = topic }
    guard number > topic.last else {
      guard isSticky, number == topic.last, isPostedAgain(event, on: key.topic, by: link) else { return }
      return outputs.append(.post(topic: key.topic, payload: message.payload))
    }
    topic.known = max(topic.known, number)
    topic.isCareful = isCareful
    if isCareful, number > topic.last + 1, hold(message.payload, number, key, mayForget: topic.answers) {
      return ask(&topic, key, by: link, at: now)
    }
    if gaps[key] != nil, number == topic.last + 1 { didAnswer(&topic, key, at: now) }
    // What a sticky type leaves out has been replaced. Of any other type it is missed, also if no more can be held back.
    if isSticky {
      // Of a topic that is sticky now, nothing is waited for.
      endGap(key)
      topic.last = number - 1
      latest[key.topic] = LatestEvent(event: event, links: [link])
    }
    if gaps[key] != nil {
      // In its place among those that are held, also if others count as lost up to a later one.
      gaps[key]?.held[number] = message.payload
      heldBytes += message.payload.count
      skip(upTo: number, &topic, key)
    } else {
      skip(upTo: number - 1, &topic, key)
      topic.last = number
      outputs.append(.post(topic: key.topic, payload: message.payload))
    }
    if isCareful { ask(&topic, key, by: link, at: now) }
  }

  /// An origin says that all numbers up to this one have been sent.
  private mutating func didHear(_ number: Int, _ key: IncomingTopic.Key, by link: LinkID, at now: Duration) {
    guard Self.canBeAsked(key.origin) else { return }
    guard var topic = incoming[key] else {
      // If it was forgotten, what waits of it is older.
      endGap(key)
      return incoming[key] = IncomingTopic(last: number, known: number, isCareful: true)
    }
    topic.known = max(topic.known, number)
    topic.answers = true
    // The origin says so as it connects: what it was asked before may not have reached it.
    gaps[key]?.deadline = nil
    ask(&topic, key, by: link, at: now)
    incoming[key] = topic
  }
}
