// What is missing, what is held back meanwhile, and what is given up.

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

extension LinkMachine {
  // MARK: What arrives too early

  /// Holds an event back, or drops it if too much is held and it may be sent again; returns false if neither can be done.
  mutating func hold(_ payload: [UInt8], _ number: Int, _ key: IncomingTopic.Key, mayForget: Bool) -> Bool {
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
  mutating func endGap(_ key: IncomingTopic.Key) {
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
  mutating func ask(_ topic: inout IncomingTopic, _ key: IncomingTopic.Key, by link: LinkID, at now: Duration) {
    guard topic.last < topic.known, gaps[key]?.deadline == nil else { return }
    guard mayWait(for: key) else { return skip(upTo: topic.known, &topic, key) }
    wait(for: key, at: now)
    // The message has the number that is noted when it is made.
    incoming[key] = topic
    request(key, by: link)
  }

  /// The origin has sent something of what is missing: the rest may take its time.
  mutating func didAnswer(_ topic: inout IncomingTopic, _ key: IncomingTopic.Key, at now: Duration) {
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
  mutating func skip(upTo number: Int, _ topic: inout IncomingTopic, _ key: IncomingTopic.Key) {
    while topic.last < number {
      miss(upTo: number, &topic, key)
      postHeld(&topic, key)
    }
  }

  /// The origin says that it has nothing more of some events.
  mutating func giveUp(
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
