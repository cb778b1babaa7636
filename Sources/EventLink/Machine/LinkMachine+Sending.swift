// What a link sends.

extension LinkMachine {
  /// Adds a topic, and returns its number; the same topic is added once.
  mutating func addTopic(
    _ name: String, type: String, quality: LinkQuality, isSticky: Bool, mediaType: String? = nil
  ) -> TopicID {
    if let known = topics.firstIndex(where: { $0.name == name }) { return known }
    topics.append(
      OutgoingTopic(
        name: name, type: type, quality: quality, isSticky: isSticky,
        envelope: Envelope(topic: name, source: origin, type: type, mediaType: mediaType)))
    return topics.count - 1
  }

  /// Adds a link that carries topics; it is down.
  mutating func addLink(_ link: LinkID, carrying carried: [TopicID]) {
    var lane = Lane()
    for topic in carried {
      lane.progress[topic] = Lane.Progress(sent: topics[topic].last, acknowledged: topics[topic].last)
    }
    links[link] = lane
    noteOwnLatest(at: link)
  }

  /// Removes a link for good.
  mutating func removeLink(_ link: LinkID, at now: Duration) {
    links[link] = nil
    stopWaiting(for: link, at: now)
  }

  /// Sends an event.
  ///
  /// The event's number grows; numbers that are left out were dropped before.
  mutating func send(_ content: OutgoingTopic.Content, number: Int, on topic: TopicID) {
    if topics[topic].isSticky {
      // What the brokers have stays the latest event for all others.
      if case .lost = content { return }
      topics[topic].kept.removeAll()
      didPost(content, number, onSticky: topics[topic].name, type: topics[topic].type)
    } else if number > topics[topic].last + 1, topics[topic].quality == .atLeastOnce {
      topics[topic].kept.append((number - 1, .lost))
    }
    if case .lost = content, topics[topic].quality == .atMostOnce {
      // Receivers count it with the next event.
    } else {
      topics[topic].kept.append((number, content))
    }
    topics[topic].last = number
    // Not a loop over the table, which would keep a copy of it meanwhile.
    var place = links.startIndex
    while place < links.endIndex {
      withLane(at: place) { machine, link, lane in
        guard lane.progress[topic] != nil else { return }
        machine.dropExcess(of: topic, by: link, &lane)
        machine.enqueue(topic, &lane)
        machine.pump(link, &lane)
      }
      links.formIndex(after: &place)
    }
    trim(topic)
  }

  /// Calls `body` with a lane, which is not in ``links`` meanwhile: each look into the table costs as much as a step of the work.
  private mutating func withLane(
    at place: [LinkID: Lane].Index?, _ body: (inout LinkMachine, LinkID, inout Lane) -> Void
  ) {
    guard let place else { return }
    var lane = Lane()
    swap(&lane, &links.values[place])
    body(&self, links.keys[place], &lane)
    swap(&lane, &links.values[place])
  }

  /// Drops the oldest events that wait, if there are too many.
  private mutating func dropExcess(of topic: TopicID, by link: LinkID, _ lane: inout Lane) {
    guard !topics[topic].isSticky, topics[topic].kept.count > limits.waiting,
      let sent = lane.progress[topic]?.sent
    else { return }
    let waiting = topics[topic].places(after: sent)
    let dropped = lane.progress[topic]?.dropped ?? []
    // Of what another link owes, some may have been dropped here before.
    var excess = waiting.count - mostWaiting(of: topic) - topics[topic].count(of: dropped, after: sent)
    guard excess > 0 else { return }
    var (place, count) = (waiting.lowerBound, 0)
    while excess > 0 {
      let (number, content) = topics[topic].kept[place]
      place += 1
      guard !dropped.contains(where: { $0.contains(number) }) else { continue }
      excess -= 1
      // What is lost has been reported.
      if case .lost = content { continue }
      count += 1
    }
    let last = topics[topic].kept[place - 1].number
    lane.changeProgress(of: topic) { progress in
      progress.drop(sent + 1...last)
      progress.sent = last
    }
    if count > 0 { outputs.append(.dropped(topic, count: count, by: link)) }
  }

  /// The most events of a topic that wait; no event is dropped that is kept for receivers anyway.
  func mostWaiting(of topic: TopicID) -> Int { least(of: topic) + limits.waiting }

  /// The number of events of a topic that are kept for receivers, whether links owe them or not.
  private func least(of topic: TopicID) -> Int { topics[topic].quality == .atLeastOnce ? limits.kept : 0 }

  /// Forgets events that no link owes, beyond those that are kept for receivers.
  private mutating func trim(_ topic: TopicID) {
    let least = least(of: topic)
    guard topics[topic].kept.count > least else { return }
    var settled = topics[topic].last
    for progress in links.values.lazy.compactMap({ $0.progress[topic] }) {
      guard topics[topic].quality == .atLeastOnce else {
        settled = min(settled, progress.sent)
        continue
      }
      // What has been dropped is not owed, and must not be given to a receiver that asks for it.
      let dropped = progress.dropped.first { $0.contains(progress.acknowledged + 1) }
      settled = min(settled, dropped?.upperBound ?? progress.acknowledged)
    }
    while topics[topic].kept.count > least, let first = topics[topic].kept.first, first.number <= settled {
      // The latest event of a sticky type stays for links that are down.
      if topics[topic].isSticky, topics[topic].kept.count == 1 { return }
      topics[topic].kept.popFirst()
    }
    // What was dropped may stand behind events that are in transit.
    while topics[topic].kept.count > mostWaiting(of: topic) + limits.inTransit, let place = firstSettled(of: topic) {
      topics[topic].kept.remove(at: place)
    }
  }

  /// The place of the first event that no link of the topic owes, one having sent it where another has dropped it; nil if there is none.
  private func firstSettled(of topic: TopicID) -> Int? {
    let all = links.values.compactMap { $0.progress[topic] }
    let isCareful = topics[topic].quality == .atLeastOnce
    return (0..<topics[topic].kept.count).first { place in
      let number = topics[topic].kept[place].number
      return all.allSatisfy { progress in
        number <= (isCareful ? progress.acknowledged : progress.sent)
          || progress.dropped.contains { $0.contains(number) }
      }
    }
  }

  /// The number of events for which a link owes something, those of sticky types aside.
  func waiting(on link: LinkID) -> Int {
    links[link]?.progress.reduce(0) { sum, entry in
      let (topic, progress) = (topics[entry.key], entry.value)
      guard !topic.isSticky else { return sum }
      let owed = topic.places(after: topic.quality == .atLeastOnce ? progress.acknowledged : progress.sent)
      return sum
        + owed.count { place in
          let (number, content) = topic.kept[place]
          if case .lost = content { return false }
          return !progress.dropped.contains { $0.contains(number) }
        }
    } ?? 0
  }

  /// Adds a topic to those of which something is to be sent, unless it is among them.
  private func enqueue(_ topic: TopicID, _ lane: inout Lane) {
    guard let progress = lane.progress[topic], !progress.isQueued, progress.sent < topics[topic].last else { return }
    lane.changeProgress(of: topic) { $0.isQueued = true }
    lane.queue.append(topic)
  }

  // MARK: The connection

  /// A link's connection has been made, and its subscriptions are confirmed.
  mutating func didConnect(_ link: LinkID, _ connection: Int, at now: Duration) {
    guard var lane = links[link] else { return }
    // If the end of the connection before is told later, it is nothing to this one.
    if lane.goals.take() != nil { outputs.append(.idle(link, connection: lane.connection)) }
    (lane.isUp, lane.isEnding, lane.connection) = (true, false, connection)
    (lane.inTransit, lane.heads, lane.queue) = (Fifo(), Fifo(), Fifo())
    (lane.requests, lane.isToBeAsked) = (Fifo(), [])
    (lane.resends, lane.resendQueue) = ([:], Fifo())
    for topic in lane.progress.keys.sorted() {
      guard var progress = lane.progress[topic] else { continue }
      progress.isQueued = false
      if topics[topic].quality == .atLeastOnce || topics[topic].isSticky {
        // What was in transit may have been lost. The broker must have the latest event of a sticky type, however it is sent.
        progress.sent = progress.acknowledged
        if !topics[topic].isSticky { lane.heads.append(headMessage(upTo: progress.sent, on: topic)) }
      } else {
        progress.acknowledged = progress.sent
      }
      progress.dropped.removeAll { $0.upperBound <= progress.acknowledged }
      lane.progress[topic] = progress
    }
    for topic in lane.progress.keys.sorted() { enqueue(topic, &lane) }
    links[link] = lane
    askEveryOrigin(by: link, at: now)
    pump(link)
  }

  /// A link's connection has ended; what a later one has replaced has ended before.
  mutating func didDisconnect(_ link: LinkID, _ connection: Int, at now: Duration) {
    guard let lane = links[link], connection >= lane.connection else { return }
    links[link]?.isUp = false
    withLane(at: links.index(forKey: link)) { $0.reportIfIdle($1, &$2) }
    stopWaiting(for: link, at: now)
    if lane.isUp { noteOwnLatest(at: link) }
  }

  /// Notes that the broker of a link has had, or will not get, the own events that are the latest: they may not have come back
  /// before the connection ended, and what the next one brings is later.
  private mutating func noteOwnLatest(at link: LinkID) {
    for (id, progress) in links[link]?.progress ?? [:] {
      let topic = topics[id]
      guard topic.isSticky, progress.acknowledged >= topic.last, latest[topic.name]?.links == [] else { continue }
      latest[topic.name]?.links.insert(link)
    }
  }

  /// Wants to know when a link has sent what has been posted so far, or its connection has ended.
  mutating func finish(_ link: LinkID, _ connection: Int) {
    guard links[link]?.connection == connection else { return outputs.append(.idle(link, connection: connection)) }
    let carried = links[link].map { Array($0.progress.keys) } ?? []
    links[link]?.goals = Dictionary(uniqueKeysWithValues: carried.map { ($0, topics[$0].last) })
    withLane(at: links.index(forKey: link)) { $0.reportIfIdle($1, &$2) }
  }

  /// Keeps what waits for the next connection, because this one is about to end.
  mutating func stopSending(by link: LinkID, _ connection: Int) {
    if links[link]?.connection == connection { links[link]?.isEnding = true }
  }

  private mutating func reportIfIdle(_ link: LinkID, _ lane: inout Lane) {
    guard let goals = lane.goals else { return }
    let hasSent = goals.allSatisfy { lane.progress[$0.key]?.sent ?? .max >= $0.value }
    let isInTransit = (0..<lane.inTransit.count).contains { place in
      lane.inTransit[place].topic.flatMap { goals[$0] } ?? -1 >= lane.inTransit[place].event
    }
    guard !lane.isUp || hasSent && !isInTransit else { return }
    (lane.goals, lane.isEnding) = (nil, true)
    outputs.append(.idle(link, connection: lane.connection))
  }

  /// The transport has taken over messages, or the broker has those that are sent at least once.
  mutating func didAcknowledge(_ numbers: [UInt64], by link: LinkID) {
    var acknowledged: [(topic: TopicID, event: Int?)] = []
    let place = links.index(forKey: link)
    withLane(at: place) { _, _, lane in
      let first = lane.next - UInt64(lane.inTransit.count)
      // The last announcement of a cancelled end has a number of its own.
      for number in numbers where number >= first && number < lane.next {
        lane.inTransit[Int(number - first)].isAcknowledged = true
      }
      while let sent = lane.inTransit.first, sent.isAcknowledged {
        lane.inTransit.popFirst()
        guard let topic = sent.topic else { continue }
        lane.changeProgress(of: topic) { $0.didAcknowledge(sent.event) }
        let event = sent.isGap ? nil : sent.event
        if let place = acknowledged.firstIndex(where: { $0.topic == topic }) {
          acknowledged[place].event = event ?? acknowledged[place].event
        } else {
          acknowledged.append((topic, event))
        }
      }
    }
    acknowledged.sort { $0.topic < $1.topic }
    for (topic, event) in acknowledged {
      trim(topic)
      guard topics[topic].quality == .atLeastOnce, let event else { continue }
      outputs.append(.acknowledged(topic, through: event, by: link))
    }
    withLane(at: place) { machine, link, lane in
      machine.pump(link, &lane)
      machine.reportIfIdle(link, &lane)
    }
  }

  /// Gives the transport what it may have now.
  mutating func pump(_ link: LinkID) { withLane(at: links.index(forKey: link)) { $0.pump($1, &$2) } }

  private mutating func pump(_ link: LinkID, _ lane: inout Lane) {
    while lane.isUp, !lane.isEnding, lane.inTransit.count < limits.inTransit {
      // Requests and what is sent again have their turns also where no new event waits.
      if lane.servedInRow == Lane.mostServedInRow, lane.queue.isEmpty { lane.servedInRow = 0 }
      let servesOthers = lane.servedInRow < Lane.mostServedInRow
      if let message = lane.heads.popFirst() {
        transfer(message, event: 0, on: nil, by: link, &lane)
      } else if servesOthers, lane.servedInRow == 0 || lane.resendQueue.isEmpty, let key = lane.requests.popFirst() {
        lane.servedInRow += 1
        lane.isToBeAsked.remove(key)
        // If the topic was forgotten meanwhile, nothing of it is missed.
        guard let number = incoming[key]?.last else { continue }
        transfer(request(key, after: number), event: 0, on: nil, by: link, &lane)
      } else if servesOthers, let topic = lane.resendQueue.popFirst() {
        lane.servedInRow += 1
        sendAgain(topic, by: link, &lane)
      } else if let topic = lane.queue.popFirst() {
        lane.servedInRow = 0
        lane.changeProgress(of: topic) { $0.isQueued = false }
        sendNext(of: topic, by: link, &lane)
        enqueue(topic, &lane)
      } else {
        return
      }
    }
  }

  private mutating func sendNext(of topic: TopicID, by link: LinkID, _ lane: inout Lane) {
    guard let progress = lane.progress[topic] else { return }
    let next = topics[topic].places(after: progress.sent).first
    // Numbers that are not kept may stand before it.
    let number = next.map { topics[topic].kept[$0].number } ?? progress.sent + 1
    if let dropped = progress.dropped.first(where: { $0.contains(progress.sent + 1) || $0.contains(number) }) {
      // So receivers need not ask for it.
      lane.changeProgress(of: topic) { $0.sent = dropped.upperBound }
      guard topics[topic].quality == .atLeastOnce else { return }
      return transfer(
        gapMessage(progress.sent + 1...dropped.upperBound, on: topic), event: dropped.upperBound, on: topic,
        isGap: true, by: link, &lane)
    }
    guard let place = next else {
      // Nothing of it is kept.
      lane.changeProgress(of: topic) { $0.sent = topics[topic].last }
      return
    }
    lane.changeProgress(of: topic) { $0.sent = number }
    var isGap = false
    if case .lost = topics[topic].kept[place].content { isGap = true }
    transfer(message(at: place, of: topic), event: number, on: topic, isGap: isGap, by: link, &lane)
  }

  /// Sends the next event that a receiver has asked for.
  private mutating func sendAgain(_ topic: TopicID, by link: LinkID, _ lane: inout Lane) {
    guard var resend = lane.resends[topic] else { return }
    let place = topics[topic].places(after: resend.next - 1).first
    var number = place.map { topics[topic].kept[$0].number } ?? .max
    // Another link may owe what this one has dropped.
    if let dropped = lane.progress[topic]?.dropped.first(where: { $0.contains(number) }) {
      number = dropped.upperBound + 1
    }
    if number > resend.next {
      let end = min(number - 1, resend.through)
      transfer(gapMessage(resend.next...end, on: topic), event: 0, on: nil, by: link, &lane)
      resend.next = end + 1
    } else if let place {
      transfer(message(at: place, of: topic), event: 0, on: nil, by: link, &lane)
      resend.next = number + 1
    }
    lane.resends[topic] = resend.next > resend.through ? nil : resend
    if resend.next <= resend.through { lane.resendQueue.append(topic) }
  }

  private mutating func transfer(
    _ message: LinkMessage, event: Int, on topic: TopicID?, isGap: Bool = false, by link: LinkID, _ lane: inout Lane
  ) {
    lane.inTransit.append(Lane.Sent(topic: topic, event: event, isGap: isGap))
    outputs.append(.send(message, number: lane.next, by: link))
    lane.next += 1
  }

  // MARK: Messages

  /// The message about what is kept at a place.
  private func message(at place: Int, of topic: TopicID) -> LinkMessage {
    let (number, content) = topics[topic].kept[place]
    let name = topics[topic].name
    let payload: [UInt8]
    switch content {
    case .data(let data): payload = topics[topic].envelope.message(number, with: data)
    case .removal: payload = []
    case .lost: return gapMessage((place == 0 ? 1 : topics[topic].kept[place - 1].number + 1)...number, on: topic)
    }
    // The broker must have the latest event of a sticky type: what is only written to a socket may be lost with the connection.
    let isSticky = topics[topic].isSticky
    return LinkMessage(
      topic: name, payload: payload, quality: isSticky ? .atLeastOnce : topics[topic].quality, isRetained: isSticky)
  }

  /// A message to an origin about the events of a topic that follow a number.
  private func request(_ key: IncomingTopic.Key, after number: Int) -> LinkMessage {
    let event = CloudEvent(
      id: key.topic, source: origin, type: CloudEvent.Control.request.rawValue, number: number)
    return LinkMessage(
      topic: Self.requestTopic(of: key.origin), payload: event.encoded(), quality: .atLeastOnce)
  }

  /// A message to other links: all events up to a number have been sent.
  private func headMessage(upTo number: Int, on topic: TopicID) -> LinkMessage {
    message(.head, number, id: "\(topics[topic].name)#head-\(number)", on: topic)
  }

  /// A message to other links: these events cannot be had any more.
  private func gapMessage(_ numbers: ClosedRange<Int>, on topic: TopicID) -> LinkMessage {
    message(.gap, numbers.upperBound, id: CloudEvent.id(ofGap: numbers, on: topics[topic].name), on: topic)
  }

  private func message(_ control: CloudEvent.Control, _ number: Int, id: String, on topic: TopicID) -> LinkMessage {
    let event = CloudEvent(id: id, source: origin, type: control.rawValue, number: number)
    return LinkMessage(topic: topics[topic].name, payload: event.encoded(), quality: .atLeastOnce)
  }

  /// Answers a receiver that misses what follows a number; a second receiver that misses less costs nothing.
  mutating func answer(_ name: String, after number: Int, by link: LinkID) {
    guard let topic = topics.firstIndex(where: { $0.name == name }), topics[topic].quality == .atLeastOnce,
      !topics[topic].isSticky, let sent = links[link]?.progress[topic]?.sent, number < sent
    else { return }
    let former = links[link]?.resends[topic]
    if former == nil { links[link]?.resendQueue.append(topic) }
    links[link]?.resends[topic] = Lane.Resend(next: min(former?.next ?? .max, number + 1), through: sent)
    pump(link)
  }
}
