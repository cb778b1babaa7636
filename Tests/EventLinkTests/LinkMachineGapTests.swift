import Testing

@testable import EventLink

/// What receivers learn of events that cannot be had any more, and whom they ask for the others.
extension `The machine of links` {
  /// The origin says that these events cannot be had any more.
  private mutating func isTold(ofLoss numbers: ClosedRange<Int>, by link: LinkMachine.LinkID = 1) {
    let event = CloudEvent(
      id: CloudEvent.id(ofGap: numbers, on: "ticks"), source: "there", type: CloudEvent.Control.gap.rawValue,
      number: numbers.upperBound)
    machine.receive(
      LinkMessage(topic: "ticks", payload: event.encoded(), quality: .atLeastOnce), isSticky: false, by: link, at: now)
  }

  @Test mutating func `posts what is sent again before events that are lost (4)`() {
    connect()
    arrives(1)
    arrives(5)
    #expect(outputs() == ["post 1", "send 1: requests request 1"])
    // It overtakes the answer.
    isTold(ofLoss: 6...7)
    #expect(outputs() == [])
    for number in 2...4 { arrives(number) }
    #expect(outputs() == ["post 2", "post 3", "post 4", "post 5", "missed 2"])
    arrives(8)
    #expect(outputs() == ["post 8"])
    #expect(machine.gaps.isEmpty)
  }

  @Test mutating func `asks for what comes before events that are lost (4)`() {
    connect()
    arrives(1)
    isTold(ofLoss: 4...4)
    #expect(outputs() == ["post 1", "send 1: requests request 1"])
    isTold(ofLoss: 2...2)
    #expect(outputs() == ["missed 1"])
    arrives(3)
    #expect(outputs() == ["post 3", "missed 1"])
  }

  /// One link of the origin has dropped them; another one has sent some.
  @Test mutating func `posts what came early of events that are lost, in its place and once (4)`() {
    connect()
    arrives(1)
    arrives(5)
    #expect(outputs() == ["post 1", "send 1: requests request 1"])
    isTold(ofLoss: 4...6)
    arrives(3)
    arrives(2)
    #expect(outputs() == ["post 2", "post 3", "missed 1", "post 5", "missed 1"])
    #expect(machine.gaps.isEmpty && machine.heldBytes == 0)
    isTold(ofLoss: 9...9)
    isTold(ofLoss: 7...8)
    arrives(10)
    #expect(outputs() == ["send 2: requests request 6", "missed 2", "missed 1", "post 10"])
  }

  @Test mutating func `posts an event in its place, though no more can be held, and it counts as lost (4, 12)`() {
    machine = LinkMachine(origin: "here", limits: LinkMachine.Limits(held: 2))
    machine.addLink(1, carrying: [])
    connect()
    for number in [1, 5, 7] { arrives(number) }
    isTold(ofLoss: 9...12)
    machine.timeDidPass(now + .seconds(30))
    arrives(13)
    _ = outputs()
    arrives(10)
    #expect(outputs() == ["missed 1", "post 7", "missed 2", "post 10", "missed 2", "post 13"])
    #expect(machine.gaps.isEmpty && machine.heldBytes == 0)
  }

  @Test mutating func `holds nothing back of an origin that it has forgotten (4, 12)`() {
    machine.incoming = Recent(limit: 2)
    connect()
    arrives(1)
    arrives(3)
    #expect(outputs() == ["post 1", "send 1: requests request 1"])
    for origin in ["one", "another"] { arrives(1, from: origin) }
    #expect(outputs() == ["post 1", "post 1"])
    let head = CloudEvent(
      id: "ticks#head-7", source: "there", type: CloudEvent.Control.head.rawValue, number: 7)
    machine.receive(
      LinkMessage(topic: "ticks", payload: head.encoded(), quality: .atLeastOnce), isSticky: false, by: 1, at: now)
    #expect(machine.gaps.isEmpty && machine.heldBytes == 0)
    isTold(ofLoss: 8...9)
    #expect(outputs() == ["missed 2"])
  }

  @Test mutating func `asks once more for what is missing behind a gap, and then gives all up (4)`() {
    connect()
    for number in [1, 3, 5, 7, 9] { arrives(number) }
    #expect(outputs() == ["post 1", "send 1: requests request 1"])
    machine.timeDidPass(now + .seconds(30))
    #expect(outputs() == ["missed 1", "post 3", "send 2: requests request 3"])
    machine.timeDidPass(now + .seconds(60))
    #expect(outputs() == ["missed 1", "post 5", "missed 1", "post 7", "missed 1", "post 9"])
    #expect(machine.gaps.isEmpty && machine.heldBytes == 0 && machine.deadline == nil)
  }

  @Test mutating func `takes the loss of some for an answer (4)`() {
    connect()
    arrives(1)
    arrives(5)
    _ = outputs()
    let event = CloudEvent(
      id: CloudEvent.id(ofGap: 2...2, on: "ticks"), source: "there", type: CloudEvent.Control.gap.rawValue, number: 2)
    machine.receive(
      LinkMessage(topic: "ticks", payload: event.encoded(), quality: .atLeastOnce), isSticky: false, by: 1,
      at: now + .seconds(29))
    machine.timeDidPass(now + .seconds(58))
    #expect(outputs() == ["missed 1"])
    machine.timeDidPass(now + .seconds(59))
    #expect(outputs() == ["missed 2", "post 5"])
  }

  /// A peer may send an announcement, which is sticky, on any topic that it may write.
  @Test mutating func `waits for nothing where a sticky event has come meanwhile (4, 8)`() {
    connect()
    for number in [1, 3, 7] { arrives(number) }
    arrives(4, type: Announcement.type)
    #expect(outputs() == ["post 1", "send 1: requests request 1", "post 4"])
    #expect(machine.gaps.isEmpty && machine.heldBytes == 0)
    arrives(6)
    isTold(ofLoss: 5...5)
    #expect(outputs() == ["send 2: requests request 4", "missed 1", "post 6"])
  }

  @Test mutating func `keeps nothing of an origin that it has forgotten without a connection (12)`() {
    machine.incoming = Recent(limit: 2)
    connect()
    for number in [1, 3] { arrives(number) }
    machine.didDisconnect(1, 1, at: now)
    for origin in ["one", "another"] { arrives(1, from: origin) }
    machine.didConnect(1, 2, at: now)
    #expect(machine.gaps.isEmpty && machine.heldBytes == 0)
  }

  @Test mutating func `says which events are lost (4)`() {
    connect()
    machine.send(.data(one), number: 1, on: 0)
    machine.send(.lost, number: 4, on: 0)
    let gaps = machine.takeOutputs().compactMap { output -> ClosedRange<Int>? in
      guard case .send(let message, _, _) = output, let event = try? CloudEvent(message.payload),
        event.control == .gap
      else { return nil }
      return event.firstOfGap...(event.number ?? 0)
    }
    #expect(gaps == [2...3, 4...4])
  }

  @Test mutating func `asks by another link, if the one that has asked is down (4)`() {
    machine.addLink(2, carrying: [])
    connect()
    machine.didConnect(2, 1, at: now)
    arrives(1)
    arrives(3)
    _ = outputs()
    machine.didDisconnect(1, 1, at: now + .seconds(29))
    let links = machine.takeOutputs().compactMap { if case .send(_, _, let link) = $0 { link } else { nil } }
    #expect(links == [2])
    // The other one has its own time.
    machine.timeDidPass(now + .seconds(58))
    #expect(outputs() == [])
    machine.timeDidPass(now + .seconds(59))
    #expect(outputs() == ["missed 1", "post 3"])
  }

  /// A fleet may follow all topics of a broker.
  @Test mutating func `asks for nothing that is not received (4)`() {
    connect()
    for number in [1, 3] {
      let event = CloudEvent(id: "ticks#\(number)", source: "there", type: "Tick", number: number)
      machine.receive(
        LinkMessage(topic: "ticks", payload: event.encoded(with: one), quality: .atLeastOnce), isSticky: false,
        isReceived: false, by: 1, at: now)
    }
    let request = CloudEvent(
      id: "ticks", source: "third", type: CloudEvent.Control.request.rawValue, number: 1)
    for isReceived in [false, true] {
      machine.receive(
        LinkMessage(
          topic: LinkMachine.requestTopic(of: "there"), payload: request.encoded(), quality: .atLeastOnce),
        isSticky: false, isReceived: isReceived, by: 1, at: now)
    }
    machine.didDisconnect(1, 1, at: now)
    machine.didConnect(1, 2, at: now)
    #expect(outputs() == ["send 1: careful head 0"])
  }

  @Test mutating func `says nothing of events that were dropped as acknowledged (7)`() {
    machine = LinkMachine(origin: "here", limits: LinkMachine.Limits(waiting: 1, kept: 0))
    let topic = machine.addTopic("careful", type: "Tick", quality: .atLeastOnce, isSticky: false)
    machine.addLink(1, carrying: [topic])
    for number in 1...3 { machine.send(.data(one), number: number, on: topic) }
    machine.didConnect(1, 1, at: now)
    #expect(
      outputs() == ["dropped 1", "dropped 1", "send 0: careful head 0", "send 1: careful gap 2", "send 2: careful 3"])
    machine.didAcknowledge([0, 1], by: 1)
    #expect(outputs() == [])
    machine.didAcknowledge([2], by: 1)
    #expect(outputs() == ["acknowledged 3"])
  }

  /// A message that is only written to the socket may be lost with the connection, and the broker would keep the one before.
  @Test mutating func `sends the latest event of a sticky type at least once (8)`() {
    let topic = machine.addTopic("level", type: "Level", quality: .atMostOnce, isSticky: true)
    machine.addLink(2, carrying: [topic])
    machine.didConnect(2, 1, at: now)
    machine.send(.data(one), number: 1, on: topic)
    let qualities = machine.takeOutputs().compactMap { output in
      if case .send(let message, _, _) = output, message.topic == "level" { message.quality } else { nil }
    }
    #expect(qualities == [.atLeastOnce])
  }
}
