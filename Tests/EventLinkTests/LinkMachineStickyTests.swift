import Testing

@testable import EventLink

/// Which event of a sticky topic is the latest, here and at the broker.
extension `The machine of links` {
  /// An event of the sticky topic arrives, or its removal.
  private mutating func stickyArrives(from source: String, _ number: Int, by link: LinkMachine.LinkID = 1) {
    let id = LinkMachine.id(number, on: "sticky")
    let event = CloudEvent(id: id, source: source, type: "Level", number: number)
    machine.receive(
      LinkMessage(topic: "sticky", payload: event.encoded(with: one), quality: .atLeastOnce), isSticky: true, by: link,
      at: now)
  }

  private mutating func removalArrives(by link: LinkMachine.LinkID = 1) {
    machine.receive(
      LinkMessage(topic: "sticky", payload: [], quality: .atLeastOnce), isSticky: true, by: link, at: now)
  }

  private mutating func send(_ content: OutgoingTopic.Content, _ number: Int) {
    machine.send(content, number: number, on: 2)
    _ = outputs()
  }

  @Test mutating func `posts its own sticky event again where another one has taken its place (8)`() {
    connect()
    send(.data(one), 1)
    stickyArrives(from: "here", 1)
    #expect(outputs() == [])
    send(.data(one), 2)
    stickyArrives(from: "there", 1)
    stickyArrives(from: "here", 2)
    stickyArrives(from: "here", 2)
    #expect(outputs() == ["post 1", "post 2"])
  }

  @Test mutating func `takes what another broker has, where the link that brought the latest is gone (8)`() {
    connect()
    stickyArrives(from: "there", 9)
    stickyArrives(from: "elsewhere", 5)
    #expect(outputs() == ["post 9", "post 5"])
    machine.addLink(2, carrying: [2])
    machine.didConnect(2, 1, at: now)
    stickyArrives(from: "there", 9, by: 2)
    // The first link may be ahead.
    #expect(outputs().filter { $0.hasPrefix("post") } == [])
    machine.removeLink(1, at: now)
    stickyArrives(from: "there", 9, by: 2)
    #expect(outputs() == ["post 9"])
  }

  @Test mutating func `keeps its own sticky event if the broker had the removal before it (8, 9)`() {
    connect()
    send(.data(one), 2)
    removalArrives()
    #expect(outputs() == [])
    stickyArrives(from: "here", 2)
    #expect(outputs() == [])
    removalArrives()
    #expect(outputs() == ["remove"])
    // The link sends it once more, as it was not acknowledged.
    stickyArrives(from: "here", 2)
    #expect(outputs() == ["post 2"])
  }

  /// An acknowledgement is lost, so the event is sent again.
  @Test mutating func `posts a sticky event again that the broker has again (8)`() {
    connect()
    stickyArrives(from: "there", 5)
    stickyArrives(from: "elsewhere", 9)
    stickyArrives(from: "there", 5)
    #expect(outputs() == ["post 5", "post 9", "post 5"])
    stickyArrives(from: "there", 5)
    stickyArrives(from: "there", 4)
    #expect(outputs() == [])
  }

  @Test mutating func `posts an event of a foreign program again that the broker has again (8, 10)`() {
    connect()
    func foreignArrives() {
      let event = CloudEvent(id: "1", source: "program", type: "Level")
      machine.receive(
        LinkMessage(topic: "sticky", payload: event.encoded(with: one), quality: .atMostOnce), isSticky: true, by: 1,
        at: now)
    }
    for _ in 0..<2 { foreignArrives() }
    #expect(outputs() == ["post 0"])
    stickyArrives(from: "there", 1)
    foreignArrives()
    #expect(outputs() == ["post 1", "post 0"])
  }

  /// A connection that ends takes an event and does not write it.
  @Test mutating func `sends its latest sticky event again that was not written, also at most once (8)`() {
    machine = LinkMachine(origin: "here")
    machine.addLink(1, carrying: [machine.addTopic("sticky", type: "Level", quality: .atMostOnce, isSticky: true)])
    connect()
    for number in 1...2 { machine.send(.data(one), number: number, on: 0) }
    machine.didAcknowledge([0], by: 1)
    #expect(outputs() == ["send 0: sticky 1", "send 1: sticky 2"])
    machine.didDisconnect(1, 1, at: now)
    machine.didConnect(1, 2, at: now)
    #expect(outputs() == ["send 2: sticky 2"])
    machine.didAcknowledge([2], by: 1)
    machine.didDisconnect(1, 2, at: now)
    machine.didConnect(1, 3, at: now)
    #expect(outputs() == [])
  }

  @Test mutating func `counts no sticky event as missed that cannot be encoded, and keeps the one before it (6, 8)`() {
    machine.send(.data(one), number: 1, on: 2)
    machine.send(.lost, number: 4, on: 2)
    machine.didConnect(1, 1, at: now)
    #expect(outputs() == ["send 0: careful head 0", "send 1: sticky 1"])
    machine.send(.lost, number: 5, on: 2)
    #expect(outputs() == [])
  }

  /// Two links of the origin carry the topic.
  @Test mutating func `has a sticky event that comes twice, each time after the removal (8, 9)`() {
    connect()
    stickyArrives(from: "there", 1)
    for _ in 0..<2 {
      removalArrives()
      stickyArrives(from: "there", 3)
    }
    #expect(outputs() == ["post 1", "remove", "post 3", "remove", "post 3"])
  }

  @Test mutating func `posts a sticky event once that comes by two links, one of them behind (2, 8, 9)`() {
    machine.addLink(2, carrying: [2])
    connect()
    stickyArrives(from: "there", 1)
    removalArrives()
    stickyArrives(from: "there", 3)
    stickyArrives(from: "elsewhere", 1)
    _ = outputs()
    stickyArrives(from: "there", 1, by: 2)
    removalArrives(by: 2)
    stickyArrives(from: "there", 3, by: 2)
    #expect(outputs() == [])
    // Now the second link has brought as much.
    stickyArrives(from: "elsewhere", 1, by: 2)
    removalArrives(by: 2)
    #expect(outputs() == ["remove"])
  }

  @Test mutating func `does not post again what was overtaken by an own event that waits (2, 8)`() {
    connect()
    stickyArrives(from: "there", 5)
    machine.didDisconnect(1, 1, at: now)
    send(.data(one), 1)
    connect()
    stickyArrives(from: "there", 5)
    stickyArrives(from: "here", 1)
    #expect(outputs() == [])
  }

  /// The acknowledgement came, and the event itself did not.
  @Test(arguments: [false, true])
  mutating func `knows that the broker had its own event before the connection was made again (8)`(comesFirst: Bool) {
    connect()
    stickyArrives(from: "there", 5)
    send(.data(one), 1)
    for number: UInt64 in 0...1 { machine.didAcknowledge([number], by: 1) }
    machine.didDisconnect(1, 1, at: now)
    _ = outputs()
    if !comesFirst { connect() }
    stickyArrives(from: "there", 5)
    #expect(outputs() == ["post 5"])
  }

  @Test mutating func `has an announcement again that holds, whatever else has come (8, 13)`() {
    connect()
    func come(_ event: CloudEvent, on topic: String, isSticky: Bool) {
      let message = LinkMessage(
        topic: topic, payload: event.encoded(with: one), quality: .atLeastOnce, isRetained: true)
      machine.receive(message, isSticky: isSticky, by: 1, at: now)
    }
    let announcement = CloudEvent(id: "a#1", source: "till", type: Announcement.type, number: 1)
    for _ in 0...1 { come(announcement, on: "shop/till", isSticky: false) }
    #expect(outputs() == ["post 1", "post 1"])
    for number in 0...machine.latest.limit {
      come(CloudEvent(id: "\(number)", source: "sensor", type: "Level"), on: "sensors/\(number)", isSticky: true)
    }
    _ = outputs()
    come(announcement, on: "shop/till", isSticky: false)
    #expect(outputs() == ["post 1"])
  }

  @Test mutating func `does not take its own removal for another one's (9)`() {
    connect()
    send(.removal, 1)
    send(.data(one), 2)
    removalArrives()
    stickyArrives(from: "here", 2)
    #expect(outputs() == [])
    removalArrives()
    #expect(outputs() == ["remove"])
    // Another event comes to the broker between the next one and its removal.
    send(.data(one), 3)
    send(.removal, 4)
    stickyArrives(from: "here", 3)
    stickyArrives(from: "there", 1)
    removalArrives()
    #expect(outputs() == ["post 1", "remove"])
  }
}
