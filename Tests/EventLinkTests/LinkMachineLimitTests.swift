import Testing

@testable import EventLink

/// What a peer cannot do to a link, whatever it sends.
extension `The machine of links` {
  private mutating func arrives(_ number: Int, from origin: String, on topic: String) {
    let event = CloudEvent(id: LinkMachine.id(number, on: topic), source: origin, type: "Tick", number: number)
    machine.receive(
      LinkMessage(topic: topic, payload: event.encoded(with: one), quality: .atLeastOnce), isSticky: false, by: 1,
      at: now)
  }

  @Test mutating func `keeps no topic that is too long, also of a removal (12)`() {
    let topic = "levels/" + String(repeating: "x", count: TopicFilter.longest)
    machine.receive(LinkMessage(topic: topic, payload: [], quality: .atMostOnce), isSticky: true, by: 1, at: now)
    #expect(outputs() == ["rejected: its topic is too long"])
    #expect(machine.latest.keys.isEmpty)
  }

  /// One broker dies with what was in transit, and the other one goes on.
  @Test mutating func `drops nothing of one link that is in transit because another one has sent it (4, 6)`() {
    machine = LinkMachine(origin: "here", limits: LinkMachine.Limits(waiting: 2, kept: 0, inTransit: 2))
    let topic = machine.addTopic("careful", type: "Tick", quality: .atLeastOnce, isSticky: false)
    for link in 1...2 {
      machine.addLink(link, carrying: [topic])
      machine.didConnect(link, 1, at: now)
      machine.didAcknowledge([0], by: link)
    }
    _ = outputs()
    for number in 1...6 {
      machine.send(.data(one), number: number, on: 0)
      machine.didAcknowledge([UInt64(number)], by: 1)
    }
    #expect(outputs().count { $0 == "dropped 1" } == 2 && machine.waiting(on: 2) == 4)
    machine.didDisconnect(2, 1, at: now)
    machine.didConnect(2, 2, at: now)
    var sent: [String] = []
    for number: UInt64 in 3...8 {
      sent += outputs()
      machine.didAcknowledge([number], by: 2)
    }
    #expect(
      sent.filter { $0.hasPrefix("send") } == [
        "send 3: careful head 0", "send 4: careful 1", "send 5: careful 2", "send 6: careful gap 4",
        "send 7: careful 5", "send 8: careful 6",
      ])
    #expect(machine.topics[0].kept.isEmpty)
  }

  /// A peer may say again and again that something is missing.
  @Test mutating func `sends new events, however often it has to ask for others (4)`() {
    machine = LinkMachine(origin: "here", limits: LinkMachine.Limits(inTransit: 1))
    let topic = machine.addTopic("careful", type: "Tick", quality: .atLeastOnce, isSticky: false)
    machine.addLink(1, carrying: [topic])
    connect()
    machine.send(.data(one), number: 1, on: topic)
    for number in 1...20 { arrives(1, from: "origin\(number)", on: "ticks") }
    for number in 1...20 { arrives(3, from: "origin\(number)", on: "ticks") }
    var sent: [String] = []
    for number: UInt64 in 0..<10 {
      machine.didAcknowledge([number], by: 1)
      sent += outputs().filter { $0.hasPrefix("send") }
    }
    #expect(sent.contains("send 5: careful 1"), "\(sent)")
    #expect(sent.count { $0.hasSuffix("request 1") } == 9)
  }

  @Test mutating func `asks for events, however often a receiver asks for others (4)`() {
    machine = LinkMachine(origin: "here", limits: LinkMachine.Limits(inTransit: 1))
    let topic = machine.addTopic("careful", type: "Tick", quality: .atLeastOnce, isSticky: false)
    machine.addLink(1, carrying: [topic])
    connect()
    for number in 1...20 {
      machine.send(.data(one), number: number, on: topic)
      machine.didAcknowledge([UInt64(number - 1)], by: 1)
    }
    machine.didAcknowledge([20], by: 1)
    _ = outputs()
    machine.answer("careful", after: 0, by: 1)
    for number in [1, 3] { arrives(number, from: "there", on: "ticks") }
    var sent = outputs().filter { $0.hasPrefix("send") }
    for number: UInt64 in 21..<30 {
      machine.answer("careful", after: 0, by: 1)
      machine.didAcknowledge([number], by: 1)
      sent += outputs().filter { $0.hasPrefix("send") }
    }
    #expect(sent.contains { $0.hasSuffix("requests request 1") }, "\(sent)")
  }

  /// A receiver may ask for the same events again and again.
  @Test mutating func `sends new events, however often a receiver asks for others (4)`() {
    connect()
    for number in 1...1_000 {
      machine.send(.data(one), number: number, on: 0)
      machine.didAcknowledge([UInt64(number - 1)], by: 1)
    }
    machine.didAcknowledge([1_000], by: 1)
    _ = machine.takeOutputs()
    machine.answer("careful", after: 0, by: 1)
    for topic in [0, 1] { machine.send(.data(one), number: topic == 0 ? 1_001 : 1, on: topic) }
    var isSent: Set<String> = []
    for _ in 0..<10 {
      var numbers: [UInt64] = []
      for case .send(let message, let number, _) in machine.takeOutputs() {
        numbers.append(number)
        let event = try? CloudEvent(message.payload)
        if message.topic == "careless" || event?.number == 1_001 { isSent.insert(message.topic) }
      }
      machine.didAcknowledge(numbers, by: 1)
      machine.answer("careful", after: 0, by: 1)
    }
    #expect(isSent == ["careful", "careless"])
  }

  /// Receivers hold what comes meanwhile, and cannot hold as many as an origin may send again.
  @Test mutating func `sends far more of what was asked for than of what is new (4, 12)`() {
    machine = LinkMachine(origin: "here", limits: LinkMachine.Limits(kept: 3_000))
    machine.addLink(1, carrying: [machine.addTopic("careful", type: "Tick", quality: .atLeastOnce, isSticky: false)])
    connect()
    for number in 1...1_000 {
      machine.send(.data(one), number: number, on: 0)
      machine.didAcknowledge([UInt64(number - 1), UInt64(number)], by: 1)
    }
    _ = machine.takeOutputs()
    machine.answer("careful", after: 0, by: 1)
    for number in 1_001...3_000 { machine.send(.data(one), number: number, on: 0) }
    var sent: [Int] = []
    while sent.count < 1_250 {
      var numbers: [UInt64] = []
      for case .send(let message, let number, _) in machine.takeOutputs() {
        numbers.append(number)
        sent.append((try? CloudEvent(message.payload))?.number ?? 0)
      }
      machine.didAcknowledge(numbers, by: 1)
    }
    #expect(sent.filter { $0 <= 1_000 } == Array(1...1_000))
    #expect(sent.prefix { $0 != 1_000 }.count <= 1_250)
    #expect(sent.filter { $0 > 1_000 } == Array(1_001...(sent.count)))
  }

  /// A peer invents origins on a topic that it may write.
  @Test mutating func `waits for what is missing of one topic, though another one misses too much (4, 12)`() {
    connect()
    for origin in 1...Gap.most { for number in [1, 3] { arrives(number, from: "o\(origin)", on: "flood") } }
    #expect(machine.gaps.count == Gap.most / 2)
    _ = machine.takeOutputs()
    for number in [1, 3, 2] { arrives(number, from: "there", on: "ticks") }
    #expect(outputs() == ["post 1", "post 2", "post 3"])
  }

  @Test mutating func `says little of what it rejects (12)`() {
    let text = "a" + String(repeating: "\u{301}", count: 2_000)
    machine.receive(
      LinkMessage(topic: text, payload: one, quality: .atMostOnce), isSticky: false, by: 1, at: now)
    let payload = #"{"specversion":"\#(text)","id":"1","source":"x","type":"y"}"#
    machine.receive(
      LinkMessage(topic: "t", payload: Array(payload.utf8), quality: .atMostOnce), isSticky: false, by: 1, at: now)
    for output in machine.takeOutputs() {
      guard case .rejected(let topic, let reason) = output else {
        Issue.record("\(output)")
        continue
      }
      #expect(topic.unicodeScalars.count + reason.unicodeScalars.count < 150)
    }
    // The key is the payload's.
    let keyed = #"{"specversion":"1.0","id":"1","source":"x","type":"y","data":{"\#(text)":"b"}}"#
    let error = #expect(throws: LinkFormatError.self) {
      try CloudEvent.data(of: Array(keyed.utf8), as: [String: Int].self)
    }
    #expect((error?.description.unicodeScalars.count).map { $0 < 300 } == true)
  }

  // MARK: Programs without a link

  private mutating func counts(_ number: Int, id: String, on topic: String = "ticks") {
    let event = CloudEvent(id: id, source: "sensor", type: "Tick", number: number)
    machine.receive(
      LinkMessage(topic: topic, payload: event.encoded(with: one), quality: .atLeastOnce), isSticky: false, by: 1,
      at: now)
  }

  /// The extension `sequence` of CloudEvents begins with 1 again when the program does.
  @Test mutating func `takes the events of a program without a link that begins to count again (10)`() {
    connect()
    for number in 1...10 { counts(number, id: "a\(number)") }
    for number in 1...3 { counts(number, id: "b\(number)") }
    #expect(outputs() == (1...10).map { "post \($0)" } + (1...3).map { "post \($0)" })
    counts(2, id: "b2")
    #expect(outputs() == [])
  }

  @Test mutating func `misses nothing of a program without a link, and asks it for nothing (10)`() {
    connect()
    for number in [1, 5, 2] { counts(number, id: "\(number)") }
    #expect(outputs() == ["post 1", "post 5", "post 2"] && machine.gaps.isEmpty && machine.deadline == nil)
  }

  /// A bridge may rename the topic, and the `id` has the origin's name of it.
  @Test(arguments: [("local/ticks#3", true), ("#3", true), ("3", false), ("ticks#13", false), ("ticks#03", false)])
  mutating func `counts where the id has the number of a link (10)`(id: String, isCounted: Bool) {
    connect()
    counts(1, id: "local/ticks#1")
    counts(3, id: id)
    #expect(outputs() == ["post 1"] + (isCounted ? ["send 1: requests request 1"] : ["post 3"]))
  }

  @Test(arguments: ["-1", "9223372036854775807", "12345678901234567890", "x", ""])
  mutating func `takes an event of a foreign program with any sequence, once (10)`(sequence: String) {
    let payload = #"{"specversion":"1.0","id":"1","source":"x","type":"y","sequence":"\#(sequence)","data":1}"#
    for _ in 0..<2 {
      machine.receive(
        LinkMessage(topic: "t", payload: Array(payload.utf8), quality: .atMostOnce), isSticky: false, by: 1, at: now)
    }
    #expect(outputs() == ["post 0"])
  }
}
