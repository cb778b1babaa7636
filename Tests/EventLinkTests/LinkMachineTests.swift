import Testing

@testable import EventLink

@Suite struct `The machine of links` {
  var machine = LinkMachine(origin: "here")
  let now = Duration.seconds(100)
  /// Data in JSON.
  let one = [UInt8(ascii: "1")]

  init() {
    let careful = machine.addTopic("careful", type: "Tick", quality: .atLeastOnce, isSticky: false)
    let careless = machine.addTopic("careless", type: "Tick", quality: .atMostOnce, isSticky: false)
    let sticky = machine.addTopic("sticky", type: "Level", quality: .atLeastOnce, isSticky: true)
    machine.addLink(1, carrying: [careful, careless, sticky])
  }

  /// What the machine wants, as short lines.
  mutating func outputs() -> [String] {
    machine.takeOutputs().map { output in
      switch output {
      case .send(let message, let number, _):
        let event = try? CloudEvent(message.payload)
        return
          "send \(number): \(message.topic.split(separator: "/").last ?? "") \(event?.control.map { "\($0) " } ?? "")\(event?.number ?? 0)"
      case .post(_, let payload): return "post \((try? CloudEvent(payload))?.number ?? 0)"
      case .missed(_, _, let count): return "missed \(count)"
      case .dropped(_, let count, _): return "dropped \(count)"
      case .acknowledged(_, let number, _): return "acknowledged \(number)"
      case .rejected(_, let reason): return "rejected: \(reason)"
      case .removeLatest: return "remove"
      case .idle: return "idle"
      }
    }
  }

  mutating func arrives(
    _ number: Int, _ quality: LinkQuality = .atLeastOnce, from origin: String = "there", type: String = "Tick"
  ) {
    let event = CloudEvent(id: "ticks#\(number)", source: origin, type: type, number: number)
    machine.receive(
      LinkMessage(topic: "ticks", payload: event.encoded(with: one), quality: quality),
      isSticky: false, by: 1, at: now)
  }

  @Test mutating func `takes the end of an earlier connection for nothing`() {
    connect()
    machine.didConnect(1, 2, at: now)
    machine.didDisconnect(1, 1, at: now)
    machine.finish(1, 1)
    // The later connection is up, and what it owes is not what the earlier one waited for.
    machine.send(.data(one), number: 1, on: 0)
    #expect(
      machine.takeOutputs().compactMap { output in
        switch output {
        case .idle(_, let connection): "idle \(connection)"
        case .send(let message, _, _): message.topic == "careful" ? "send" : nil
        default: nil
        }
      } == ["send", "idle 1", "send"])
  }

  @Test mutating func `lets the end of an earlier connection wait for nothing of a later one`() {
    connect()
    machine.send(.data(one), number: 1, on: 0)
    machine.finish(1, 1)
    _ = machine.takeOutputs()
    machine.didConnect(1, 2, at: now)
    machine.didAcknowledge([2, 3], by: 1)
    machine.send(.data(one), number: 2, on: 0)
    let all = machine.takeOutputs()
    #expect(all.first == .idle(1, connection: 1))
    #expect(!all.contains(.idle(1, connection: 2)))
    #expect(all.contains { if case .send(_, 4, _) = $0 { true } else { false } })
  }

  mutating func connect() {
    machine.didConnect(1, 1, at: now)
    _ = machine.takeOutputs()
  }

  @Test mutating func `asks for what is missing, and posts it in order (4)`() {
    connect()
    arrives(1)
    arrives(4)
    arrives(3)
    #expect(outputs() == ["post 1", "send 1: requests request 1"])
    arrives(2)
    arrives(3)
    #expect(outputs() == ["post 2", "post 3", "post 4"])
    #expect(machine.deadline == nil || machine.deadline == now + .seconds(30))
    machine.timeDidPass(now + .seconds(30))
    #expect(outputs() == [] && machine.deadline == nil)
  }

  @Test mutating func `does not wait for what the origin no longer has (4)`() {
    connect()
    arrives(1)
    arrives(5)
    arrives(3, type: CloudEvent.Control.gap.rawValue)
    #expect(outputs().suffix(1) == ["missed 2"])
    arrives(4)
    #expect(outputs() == ["post 4", "post 5"])
  }

  @Test mutating func `gives up after a while, and counts what did not come (4)`() {
    connect()
    arrives(1)
    arrives(4)
    arrives(5)
    _ = outputs()
    machine.timeDidPass(now + .seconds(29))
    #expect(outputs() == [])
    machine.timeDidPass(now + .seconds(30))
    #expect(outputs() == ["missed 2", "post 4", "post 5"])
    arrives(3)
    #expect(outputs() == [])
  }

  @Test mutating func `asks again when the origin comes back (4)`() {
    connect()
    arrives(1)
    arrives(3)
    _ = outputs()
    arrives(3, type: CloudEvent.Control.head.rawValue)
    #expect(outputs() == ["send 2: requests request 1"])
  }

  /// An origin that says again and again what it has sent, while the broker takes nothing.
  @Test mutating func `asks each origin once, however often it has reason to (12)`() {
    machine = LinkMachine(origin: "here", limits: LinkMachine.Limits(inTransit: 1))
    machine.addLink(1, carrying: [machine.addTopic("careful", type: "Tick", quality: .atLeastOnce, isSticky: false)])
    connect()
    arrives(1)
    for number in 3...1_000 { arrives(number, type: CloudEvent.Control.head.rawValue) }
    arrives(2)
    #expect(outputs() == ["post 1", "post 2"] && machine.links[1]?.requests.count == 1)
    for number: UInt64 in 0...1 { machine.didAcknowledge([number], by: 1) }
    #expect(outputs() == ["send 1: requests request 2"])
    arrives(1_000, type: CloudEvent.Control.head.rawValue)
    #expect(outputs() == ["send 2: requests request 2"])
  }

  /// Each of them has sent what was missing before it was asked.
  @Test mutating func `waits to ask no more origins than it remembers (12)`() {
    machine = LinkMachine(origin: "here", limits: LinkMachine.Limits(inTransit: 1))
    machine.addLink(1, carrying: [machine.addTopic("careful", type: "Tick", quality: .atLeastOnce, isSticky: false)])
    connect()
    for origin in 1...11_000 {
      for number in [1, 3, 2] {
        let event = CloudEvent(id: "ticks#\(number)", source: "o\(origin)", type: "Tick", number: number)
        machine.receive(
          LinkMessage(topic: "ticks", payload: event.encoded(with: one), quality: .atLeastOnce), isSticky: false, by: 1,
          at: now)
      }
      #expect(machine.takeOutputs().count == 3)
    }
    #expect(machine.links[1]?.requests.count == 10_000 && machine.gaps.isEmpty)
  }

  @Test mutating func `does not count the time without a connection (4)`() {
    connect()
    arrives(1)
    arrives(3)
    machine.didDisconnect(1, 1, at: now)
    _ = outputs()
    machine.timeDidPass(now + .seconds(1_000))
    #expect(outputs() == [] && machine.deadline == nil)
    machine.didConnect(1, 1, at: now + .seconds(1_000))
    #expect(outputs().contains("send 3: requests request 1"))
    #expect(machine.deadline == now + .seconds(1_030))
  }

  @Test mutating func `sends again what the broker has not acknowledged, and only that (4, 8)`() {
    connect()
    for number in 1...3 { machine.send(.data(one), number: number, on: 0) }
    machine.send(.data(one), number: 1, on: 1)
    machine.send(.data(one), number: 1, on: 2)
    #expect(
      outputs() == [
        "send 1: careful 1", "send 2: careful 2", "send 3: careful 3", "send 4: careless 1", "send 5: sticky 1",
      ])
    for number: UInt64 in [2, 0, 1] { machine.didAcknowledge([number], by: 1) }
    #expect(outputs() == ["acknowledged 2"])
    machine.didDisconnect(1, 1, at: now)
    machine.didConnect(1, 1, at: now)
    #expect(outputs() == ["send 6: careful head 2", "send 7: careful 3", "send 8: sticky 1"])
  }

  @Test mutating func `drops the oldest of too many, and of a sticky type all but the latest (6, 8)`() {
    for number in 1...10_002 { machine.send(.data(one), number: number, on: 1) }
    for number in 1...3 { machine.send(.data(one), number: number, on: 2) }
    #expect(outputs() == ["dropped 1", "dropped 1"])
    connect()
    #expect(machine.topics[2].kept.count == 1)
  }

  @Test mutating func `drops nothing that is kept for receivers, and keeps nothing that is dropped (4, 6)`() {
    machine = LinkMachine(origin: "here", limits: LinkMachine.Limits(waiting: 2, kept: 3))
    let topic = machine.addTopic("careful", type: "Tick", quality: .atLeastOnce, isSticky: false)
    machine.addLink(1, carrying: [topic])
    connect()
    machine.send(.data(one), number: 1, on: 0)
    for number: UInt64 in 0...1 { machine.didAcknowledge([number], by: 1) }
    machine.didDisconnect(1, 1, at: now)
    _ = outputs()
    for number in 2...6 { machine.send(.data(one), number: number, on: 0) }
    #expect(outputs() == [] && machine.waiting(on: 1) == 5)
    for number in 7...8 { machine.send(.data(one), number: number, on: 0) }
    #expect(outputs() == ["dropped 1", "dropped 1"] && machine.waiting(on: 1) == 5)
    machine.didConnect(1, 1, at: now)
    #expect(
      outputs() == [
        "send 2: careful head 1", "send 3: careful gap 3", "send 4: careful 4", "send 5: careful 5",
        "send 6: careful 6", "send 7: careful 7", "send 8: careful 8",
      ])
    // A receiver that asks for all of them misses the same.
    machine.answer("careful", after: 1, by: 1)
    #expect(outputs().first == "send 9: careful gap 3")
  }

  @Test mutating func `drops what waits, and never what is in transit (4, 6)`() {
    machine = LinkMachine(origin: "here", limits: LinkMachine.Limits(waiting: 2, kept: 0, inTransit: 2))
    let topic = machine.addTopic("careful", type: "Tick", quality: .atLeastOnce, isSticky: false)
    machine.addLink(1, carrying: [topic])
    connect()
    machine.didAcknowledge([0], by: 1)
    _ = outputs()
    for number in 1...6 { machine.send(.data(one), number: number, on: 0) }
    #expect(outputs() == ["send 1: careful 1", "send 2: careful 2", "dropped 1", "dropped 1"])
    #expect(machine.waiting(on: 1) == 4)
    machine.didDisconnect(1, 1, at: now)
    // Nothing is dropped twice.
    machine.send(.data(one), number: 7, on: 0)
    #expect(outputs() == ["dropped 1"])
    machine.didConnect(1, 1, at: now)
    var sent = outputs()
    for number: UInt64 in 3..<10 {
      machine.didAcknowledge([number], by: 1)
      sent += outputs().filter { $0.hasPrefix("send") }
    }
    #expect(
      sent == [
        "send 3: careful head 0", "send 4: careful 1", "send 5: careful 2", "send 6: careful gap 5",
        "send 7: careful 6", "send 8: careful 7",
      ])
  }

  @Test mutating func `is not confused by an acknowledgement of another number (7)`() {
    connect()
    machine.send(.data(one), number: 1, on: 0)
    _ = outputs()
    machine.didAcknowledge([.max], by: 1)
    #expect(outputs() == [] && machine.waiting(on: 1) == 1)
  }

  @Test mutating func `answers a receiver that has missed something, and says what is gone (4)`() {
    machine = LinkMachine(origin: "here", limits: LinkMachine.Limits(kept: 2))
    let topic = machine.addTopic("careful", type: "Tick", quality: .atLeastOnce, isSticky: false)
    machine.addLink(1, carrying: [topic])
    connect()
    for number in 1...5 {
      machine.send(.data(one), number: number, on: 0)
      machine.didAcknowledge([UInt64(number)], by: 1)
    }
    machine.didAcknowledge([0], by: 1)
    _ = outputs()
    let request = CloudEvent(
      id: "careful", source: "there", type: CloudEvent.Control.request.rawValue, number: 1)
    machine.receive(
      LinkMessage(
        topic: LinkMachine.requestTopic(of: "here"), payload: request.encoded(), quality: .atLeastOnce),
      isSticky: false, by: 1, at: now)
    #expect(outputs() == ["send 6: careful gap 3", "send 7: careful 4", "send 8: careful 5"])
  }

  @Test mutating func `holds no more than it may, and goes on in order (4, 12)`() {
    connect()
    arrives(1)
    _ = outputs()
    let event = { (number: Int) in CloudEvent(id: "ticks#\(number)", source: "there", type: "Tick", number: number) }
    let data = [UInt8(ascii: "\"")] + Array(repeating: UInt8(ascii: "x"), count: 1 << 19) + [UInt8(ascii: "\"")]
    // All are sent again from the missing one on.
    var lines: [String] = []
    for number in Array(3...200) + Array(2...200) {
      machine.receive(
        LinkMessage(topic: "ticks", payload: event(number).encoded(with: data), quality: .atLeastOnce),
        isSticky: false, by: 1, at: now)
      #expect(machine.heldBytes <= Gap.mostBytes)
      lines += outputs()
    }
    #expect(lines == ["send 1: requests request 1"] + (2...200).map { "post \($0)" })
    #expect(machine.heldBytes == 0 && machine.gaps.isEmpty)
  }

  /// Until the origin answers, it may have sent more than can be held.
  @Test mutating func `misses nothing that is sent again, though too much came meanwhile (4, 12)`() {
    connect()
    arrives(1)
    for number in 3...3_000 { arrives(number) }
    #expect(outputs() == ["post 1", "send 1: requests request 1"])
    for number in 2...3_001 { arrives(number) }
    #expect(outputs() == (2...3_001).map { "post \($0)" })
    #expect(machine.gaps.isEmpty)
  }

  /// By another way, what the origin sent after its answer may come before it.
  @Test mutating func `asks once more for what it has dropped (4, 12)`() {
    connect()
    arrives(1)
    for number in 3...2_000 { arrives(number) }
    for number in 2...1_500 { arrives(number) }
    _ = outputs()
    machine.timeDidPass(now + .seconds(30))
    #expect(outputs() == ["send 2: requests request 1500"])
    for number in 1_501...2_001 { arrives(number) }
    #expect(outputs() == (1_501...2_001).map { "post \($0)" } && machine.gaps.isEmpty)
  }

  /// The broker may not let an origin read what it is asked.
  @Test mutating func `waits for an origin that does not answer twice, and then no more (4, 12)`() {
    connect()
    arrives(1)
    for number in 3...2_000 { arrives(number) }
    _ = outputs()
    machine.timeDidPass(now + .seconds(30))
    #expect(outputs() == ["send 2: requests request 1"])
    machine.timeDidPass(now + .seconds(60))
    #expect(outputs() == ["missed 1"] + (3...1_026).map { "post \($0)" } + ["missed 974"])
    for number in 2_001...4_000 { arrives(number) }
    #expect(outputs() == (2_001...4_000).map { "post \($0)" } && machine.gaps.isEmpty)
  }

  /// An answer of many events may take longer than the wait for its first one.
  @Test mutating func `waits while the origin is answering (4)`() {
    connect()
    arrives(1)
    arrives(100)
    for number in 2...99 {
      machine.timeDidPass(now + .seconds(29 * (number - 1)))
      let event = CloudEvent(id: "ticks#\(number)", source: "there", type: "Tick", number: number)
      machine.receive(
        LinkMessage(topic: "ticks", payload: event.encoded(with: one), quality: .atLeastOnce), isSticky: false, by: 1,
        at: now + .seconds(29 * (number - 1)))
    }
    #expect(outputs() == ["post 1", "send 1: requests request 1"] + (2...100).map { "post \($0)" })
  }

  @Test mutating func `goes on after an event that was lost, and says so (4, 6)`() {
    connect()
    machine.send(.data(one), number: 1, on: 0)
    machine.send(.lost, number: 2, on: 0)
    // The numbers 3 and 4 were dropped before.
    machine.send(.data(one), number: 5, on: 0)
    machine.send(.lost, number: 1, on: 1)
    machine.send(.data(one), number: 2, on: 1)
    #expect(
      outputs() == [
        "send 1: careful 1", "send 2: careful gap 2", "send 3: careful gap 4", "send 4: careful 5",
        "send 5: careless 2",
      ])
  }

  @Test mutating func `asks only origins that can be asked (12)`() {
    connect()
    for source in ["x#y", "a+b", "a/b", "a\u{1}b", "a b", "ü"] {
      for number in [1, 3] {
        let event = CloudEvent(id: "ticks#\(number)", source: source, type: "Tick", number: number)
        machine.receive(
          LinkMessage(topic: "ticks", payload: event.encoded(with: one), quality: .atLeastOnce), isSticky: false, by: 1,
          at: now)
      }
      #expect(outputs() == ["post 1", "missed 1", "post 3"])
    }
  }

  @Test mutating func `says when all has been sent`() {
    connect()
    machine.send(.data(one), number: 1, on: 0)
    machine.finish(1, 1)
    #expect(!outputs().contains("idle"))
    machine.didAcknowledge([0], by: 1)
    machine.didAcknowledge([1], by: 1)
    #expect(outputs() == ["acknowledged 1", "idle"])
  }

  @Test mutating func `lets what is posted after that wait for the next connection (6)`() {
    connect()
    machine.finish(1, 1)
    #expect(outputs() == ["idle"])
    for topic in 0...2 { machine.send(.data(one), number: 1, on: topic) }
    #expect(outputs() == [] && machine.waiting(on: 1) == 2)
    machine.didDisconnect(1, 1, at: now)
    machine.didConnect(1, 2, at: now)
    #expect(
      outputs() == ["send 1: careful head 0", "send 2: careful 1", "send 3: careless 1", "send 4: sticky 1"])
  }

  @Test(arguments: [
    ("", "remove"), ("garbage", "rejected: it is no event of CloudEvents in JSON: the JSON is damaged"),
    (String(repeating: "[", count: 600), "rejected: it is no event of CloudEvents in JSON: the JSON is damaged"),
    ("[1]", "rejected: it is no event of CloudEvents in JSON: “” is no object"),
    (
      #"{"specversion":"2.0","id":"1","source":"x","type":"y"}"#,
      "rejected: it is of version 2.0 of CloudEvents, and not 1.0"
    ),
    (
      #"{"specversion":"1.0","id":"","source":"x","type":"y"}"#, "rejected: its id, source or type is empty or too long"
    ),
    (
      #"{"specversion":"1.0","id":"1","source":"x","type":"\#(String(repeating: "y", count: 1_023))"}"#,
      "rejected: its id, source or type is empty or too long"
    ),
    (
      #"{"specversion":"1.0","id":"1","type":"y"}"#,
      "rejected: it is no event of CloudEvents in JSON: “source” is missing"
    ),
    (
      #"{"specversion":"1.0","id":"1","source":"x","type":"swift-app-lifecycle.link.head"}"#,
      "rejected: it has no number"
    ),
  ])
  mutating func `rejects what is no event (11)`(payload: String, expected: String) {
    machine.receive(
      LinkMessage(topic: "sticky", payload: Array(payload.utf8), quality: .atMostOnce), isSticky: true, by: 1, at: now)
    #expect(outputs() == [expected])
  }

  @Test mutating func `does not grow with foreign events (12)`() {
    connect()
    for number in 1...25_000 {
      let sequence = number % 2 == 0 ? number : nil
      let event = CloudEvent(id: "ticks#\(number)", source: "s\(number)", type: "y", number: sequence)
      machine.receive(
        LinkMessage(topic: "t\(number)", payload: event.encoded(), quality: .atLeastOnce), isSticky: false, by: 1,
        at: now)
      _ = machine.takeOutputs()
    }
    #expect(machine.incoming.keys.count <= 10_000 && machine.foreign.keys.count <= 10_000)
    for number in stride(from: 2, to: 10_000, by: 2) { arrives(number) }
    #expect(machine.gaps[.init(origin: "there", topic: "ticks")]?.held.count ?? 0 <= machine.limits.held)
    #expect(machine.gaps.count <= Gap.most && machine.heldBytes < 1 << 20)
    let long = LinkMessage(topic: "t", payload: Array(repeating: 1, count: 10 << 20), quality: .atMostOnce)
    _ = machine.takeOutputs()
    machine.receive(long, isSticky: false, by: 1, at: now)
    #expect(outputs() == ["rejected: it has more than 1 MiB, the most that a link takes"])
  }
}
