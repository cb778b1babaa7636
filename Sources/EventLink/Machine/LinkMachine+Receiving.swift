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

/// What is missing of a topic: events up to the greatest known number, except those that arrived too early.
struct Gap: Sendable {
  /// The events that arrived too early, by number.
  var held: [Int: [UInt8]] = [:]
  /// The events that cannot be had any more, behind some that may still come.
  var lost: [ClosedRange<Int>] = []
  /// Whether further events were dropped because too many are held; they are sent again with what is missing.
  var hasForgotten = false
  /// When the wait ends; nil while no link is up.
  var deadline: Duration?
  /// The link by which the origin was asked.
  var link: LinkMachine.LinkID?

  /// The most topics of which something is missing, and the most bytes that are held back in all.
  static let (most, mostBytes) = (4_096, 64 << 20)
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

  // MARK: What arrives too early

  /// Holds an event back, or drops it if too much is held and it may be sent again; returns false if neither can be done.
  private mutating func hold(_ payload: [UInt8], _ number: Int, _ key: IncomingTopic.Key, mayForget: Bool) -> Bool {
    let gap = gaps[key]
    if gap?.held[number] != nil { return true }
    guard gap != nil || mayWait(for: key) else { return false }
    guard gap?.held.count ?? 0 < limits.held, heldBytes + payload.count <= Gap.mostBytes else {
      if mayForget { gaps[key, default: Gap()].hasForgotten = true }
      return mayForget
    }
    gaps[key, default: Gap()].held[number] = payload
    heldBytes += payload.count
    return true
  }

  /// Whether the link may wait for what is missing of a topic: for that of one name in half of the places at most.
  ///
  /// A peer may invent origins on the topics that it may write, and must not take the places of all others.
  private func mayWait(for key: IncomingTopic.Key) -> Bool {
    gaps[key] != nil || gaps.count < Gap.most / 2
      || gaps.count < Gap.most && gaps.keys.count { $0.topic == key.topic } < Gap.most / 2
  }

  private mutating func takeHeld(_ number: Int, _ key: IncomingTopic.Key) -> [UInt8]? {
    guard let payload = gaps[key]?.held.removeValue(forKey: number) else { return nil }
    heldBytes -= payload.count
    return payload
  }

  /// Posts what is held and no longer too early.
  private mutating func postHeld(_ topic: inout IncomingTopic, _ key: IncomingTopic.Key) {
    guard !gaps.isEmpty else { return }
    while true {
      if let payload = takeHeld(topic.last + 1, key) {
        topic.last += 1
        outputs.append(.post(topic: key.topic, payload: payload))
      } else if let lost = gaps[key]?.lost.first(where: { $0.contains(topic.last + 1) }) {
        // Another link of the origin may have sent one of them.
        miss(upTo: lost.upperBound, &topic, key)
      } else {
        break
      }
    }
    if topic.last >= topic.known { endGap(key) }
  }

  /// Forgets a gap, with what is still held for it.
  private mutating func endGap(_ key: IncomingTopic.Key) {
    guard let gap = gaps.removeValue(forKey: key) else { return }
    heldBytes -= gap.held.values.reduce(0) { $0 + $1.count }
  }

  /// Misses everything up to a number, or up to the next event that is held.
  private mutating func miss(upTo number: Int, _ topic: inout IncomingTopic, _ key: IncomingTopic.Key) {
    let next = gaps[key]?.held.keys.filter { $0 <= number }.min() ?? number + 1
    let count = next - 1 - topic.last
    if count > 0 { outputs.append(.missed(topic: key.topic, origin: key.origin, count: count)) }
    topic.last = next - 1
  }

  // MARK: Asking

  /// Asks the origin for what is missing, unless it has been asked.
  private mutating func ask(_ topic: inout IncomingTopic, _ key: IncomingTopic.Key, by link: LinkID, at now: Duration) {
    guard topic.last < topic.known, gaps[key]?.deadline == nil else { return }
    guard mayWait(for: key) else { return skip(upTo: topic.known, &topic, key) }
    wait(for: key, at: now)
    // The message has the number that is noted when it is made.
    incoming[key] = topic
    request(key, by: link)
  }

  /// The origin has sent something of what is missing: the rest may take its time.
  private mutating func didAnswer(_ topic: inout IncomingTopic, _ key: IncomingTopic.Key, at now: Duration) {
    topic.answers = true
    if gaps[key]?.deadline != nil { gaps[key]?.deadline = now + limits.patience }
  }

  private mutating func wait(for key: IncomingTopic.Key, at now: Duration) {
    let end = now + limits.patience
    gaps[key, default: Gap()].deadline = end
    deadline = min(deadline ?? end, end)
  }

  /// Lets a link ask for what is missing, as soon as its transport takes the message; what waits for that is asked for once.
  private mutating func request(_ key: IncomingTopic.Key, by link: LinkID) {
    gaps[key]?.link = link
    // Where peers have so many topics, what is not asked for counts as missed in time.
    guard let count = links[link]?.requests.count, count < incoming.limit,
      links[link]?.isToBeAsked.insert(key).inserted == true
    else { return }
    links[link]?.requests.append(key)
    pump(link)
  }

  /// Asks every origin for what it has sent since, because the connection was made again.
  mutating func askEveryOrigin(by link: LinkID, at now: Duration) {
    for key in gaps.keys where incoming[key] == nil { endGap(key) }
    for key in incoming.keys.sorted() {
      guard let topic = incoming[key], topic.isCareful else { continue }
      // Another link may have asked, and wait for the answer.
      if let other = gaps[key]?.link, other != link, links[other]?.isUp == true { continue }
      if gaps[key] != nil { wait(for: key, at: now) }
      request(key, by: link)
    }
  }

  /// Stops the waits for what a link has asked for, because it is down; another one asks, if there is one.
  mutating func stopWaiting(for link: LinkID, at now: Duration) {
    let other = links.keys.sorted().first { links[$0]?.isUp == true }
    for key in gaps.keys.sorted() where gaps[key]?.link == link {
      gaps[key]?.deadline = nil
      guard let other else { continue }
      wait(for: key, at: now)
      request(key, by: other)
    }
    deadline = gaps.values.compactMap(\.deadline).min()
  }

  // MARK: Giving up

  /// Posts and misses everything up to a number.
  private mutating func skip(upTo number: Int, _ topic: inout IncomingTopic, _ key: IncomingTopic.Key) {
    while topic.last < number {
      miss(upTo: number, &topic, key)
      postHeld(&topic, key)
    }
  }

  /// The origin says that it has nothing more of some events.
  private mutating func giveUp(
    _ first: Int, _ number: Int, _ key: IncomingTopic.Key, by link: LinkID, at now: Duration
  ) {
    guard var topic = incoming[key] else { return }
    topic.known = max(topic.known, number)
    didAnswer(&topic, key, at: now)
    if first > topic.last + 1, first <= number, topic.isCareful, mayWait(for: key),
      gaps[key]?.lost.count ?? 0 < limits.held
    {
      // What comes before may still be sent.
      gaps[key, default: Gap()].lost.append(first...number)
      ask(&topic, key, by: link, at: now)
      incoming[key] = topic
      return
    }
    skip(upTo: number, &topic, key)
    postHeld(&topic, key)
    incoming[key] = topic
  }

  /// Gives up what has not come in time.
  mutating func timeDidPass(_ now: Duration) {
    let due = gaps.filter { incoming[$0.key] == nil || $0.value.deadline.map { $0 <= now } ?? false }
    for (key, gap) in due.sorted(by: { $0.key < $1.key }) {
      guard var topic = incoming[key] else {
        // The topic was forgotten.
        endGap(key)
        continue
      }
      // What has been missed or dropped since may have been sent too late for the answer that it got. So the origin is asked once more,
      // and if it does not answer that, all is given up.
      let asksAgain = topic.answers
      topic.answers = false
      if !asksAgain || !gap.hasForgotten {
        // The first event that came early shows how far the first gap reaches.
        skip(upTo: asksAgain ? (gap.held.keys.min() ?? topic.known + 1) - 1 : topic.known, &topic, key)
        postHeld(&topic, key)
      }
      incoming[key] = topic
      guard gaps[key] != nil else { continue }
      gaps[key]?.hasForgotten = false
      gaps[key]?.deadline = now + limits.patience
      if let link = gap.link { request(key, by: link) }
    }
    deadline = gaps.values.compactMap(\.deadline).min()
  }
}
