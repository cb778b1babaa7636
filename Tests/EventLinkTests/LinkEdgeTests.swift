import AppLifecycle
import AppLifecycleTesting
import EventLink
import PubSub
import Scheduling
import TestTraits
import Testing

/// The transport to a broker that takes all messages, and says what a test says for it.
private final class SilentTransport: LinkTransport {
  private struct State {
    var receive: (@Sendable (LinkTransportEvent) -> Void)?
    var published: [LinkMessage] = []
    /// The number of the last message.
    var number: UInt64 = 0
    var rows: [Int] = []
    var ends = 0
    var waiter: (count: Int, OneShot<Bool>)?
    /// Called as a connection ends, while nothing is taken any more.
    var atEnd: (@Sendable () async -> Void)?
    var isEnding = false
  }

  private let state = Guarded(State())

  func connect(will: LinkMessage?, receive: @escaping @Sendable (LinkTransportEvent) -> Void) async throws {
    state.withLock { ($0.receive, $0.isEnding) = (receive, false) }
  }

  func subscribe(to filters: [String], quality: LinkQuality) async throws {}

  func publish(_ message: LinkMessage, number: UInt64) -> Bool {
    state.withLock { state in
      guard !state.isEnding else { return false }
      state.published.append(message)
      state.number = number
      return true
    }
  }

  func flush() {
    let waiter = state.withLock { state in
      state.rows.append(state.published.count - state.rows.reduce(0, +))
      return state.waiter.flatMap { $0.count <= state.published.count ? $0.1 : nil }
    }
    waiter?.settle(true)
  }

  func disconnect() async {
    let atEnd = state.withLock { state in
      state.ends += 1
      state.isEnding = true
      return state.atEnd
    }
    await atEnd?()
  }

  func atEnd(_ body: @escaping @Sendable () async -> Void) { state.withLock { $0.atEnd = body } }

  func say(_ event: LinkTransportEvent) { state.withLock { $0.receive }?(event) }

  /// Waits until so many messages have been published and flushed, and returns their topics.
  func topics(_ count: Int) async -> [String] {
    let wait = OneShot<Bool>()
    let isThere = state.withLock { state in
      state.waiter = (count, wait)
      return state.rows.reduce(0, +) >= count
    }
    if !isThere { _ = await wait.value }
    return state.withLock { $0.published.map(\.topic) }
  }

  /// The number of messages before each flush.
  var rows: [Int] { state.withLock { $0.rows } }
  var number: UInt64 { state.withLock { $0.number } }
  var published: [LinkMessage] { state.withLock { $0.published } }
  var last: LinkMessage? { published.last }
  var ends: Int { state.withLock { $0.ends } }
}

@MainActor @Suite(.timeLimit(.hang)) struct `A link to a broker that` {
  private let transport = SilentTransport()

  @Test func `acknowledges nothing can be closed by a cancelled task (4, 7)`() async throws {
    let application = Application(delegate: Bare())
    let link = try EventLink(of: application, to: transport) { link in
      try link.send(OrderPlaced.self, as: "orders", quality: .atLeastOnce)
      try link.announceLifeCycle(as: "shop/till")
    }
    try await link.open()
    application.bus.post(OrderPlaced(id: 1))
    // The head of what was sent before, the announcement, and the order, in the order of their topics.
    _ = await transport.topics(3)
    let closing = Task { await link.close() }
    let topics = await transport.topics(4)
    #expect(topics.filter { $0 == "orders" }.count == 2 && topics.last == "shop/till")
    #expect(transport.ends == 0)
    closing.cancel()
    await closing.value
    #expect(transport.ends == 1)
    // The last announcement once more, as one that needs no acknowledgement.
    let last = try #require(transport.last)
    #expect(last.topic == "shop/till" && last.quality == .atMostOnce && last.isRetained)
    // What was not acknowledged is sent again.
    try await link.open()
    #expect(await transport.topics(8).dropFirst(5).filter { $0 == "orders" }.count == 2)
  }

  @Test func `acknowledges nothing, and is lost as the process ends, takes events with it that are named (6)`()
    async throws
  {
    let process = try Process(transport) { link in
      try link.send(OrderPlaced.self, as: "orders", quality: .atLeastOnce)
    }
    try process.system.application.manage("other", while: .running) {
    } release: { [transport, clock = process.system.clock] in
      try await clock.sleep(for: .seconds(1))
      transport.say(.closed(reason: "gone"))
    }
    try await process.system.play("launch")
    process.bus.post(OrderPlaced(id: 1))
    try await process.system.play("wait:1s; kill")
    #expect(process.take() == ["order 1", "lost 1 at the end"])
  }

  @Test func `has acknowledged an event as the link is closed does not get it again (4, 7)`() async throws {
    let here = try Process(transport) { try $0.send(OrderPlaced.self, as: "orders", quality: .atLeastOnce) }
    try await here.system.play("launch")
    here.bus.post(OrderPlaced(id: 1))
    try await here.system.play("wait:1ms")
    let count = transport.rows.reduce(0, +)
    let (link, number) = (here.link, transport.number)
    let closing = here.system.application.task { await link.close() }
    try await here.system.play("wait:1ms")
    closing.cancel()
    // The closing task goes on first. The head of what was sent before has the number before.
    for number in [number - 1, number] { transport.say(.acknowledged(number)) }
    try await here.system.play("wait:1m")
    #expect(here.take().contains("acknowledged 1 of orders"))
    #expect(transport.published.dropFirst(count).filter { $0.topic == "orders" }.count == 1, "its head")
  }

  /// The end of a connection takes a while, and each acknowledgement makes room for another message.
  @Test func `acknowledges events as the connection ends gets the next ones on another one (6)`() async throws {
    let here = try Process(transport) { try $0.send(OrderPlaced.self, as: "orders", quality: .atMostOnce) }
    try await here.system.play("launch")
    for id in 1...1_000 { here.bus.post(OrderPlaced(id: id)) }
    try await here.system.play("wait:1ms")
    transport.atEnd { [transport, clock = here.system.clock] in
      for number in 0...transport.number { transport.say(.acknowledged(number)) }
      try? await clock.sleep(for: .seconds(1))
    }
    let link = here.link
    let closing = here.system.application.task { await link.close() }
    try await here.system.play("wait:1ms")
    closing.cancel()
    try await here.system.play("wait:1m")
    let names = transport.published.map { String(decoding: $0.payload, as: UTF8.self).split(separator: "\"")[7] }
    #expect(names == (1...names.count).map { "orders#\($0)" } && names.count == 400)
  }

  @Test func `has asked for what is missing, and is left, leaves that to another link (4)`() async throws {
    let there = try Process(transport) { try $0.receive(OrderPlaced.self, as: "orders") }
    let other = SilentTransport()
    var link: EventLink? = try EventLink(of: there.system.application, to: other) {
      try $0.receive(OrderPlaced.self, as: "orders")
    }
    try await there.system.play("launch")
    try await link?.open()
    try await there.system.play("wait:1ms")
    for id in [1, 3] {
      let payload =
        #"{"specversion":"1.0","id":"orders#\#(id)","source":"other","type":"OrderPlaced","sequence":"\#(id)","data":{"id":\#(id)}}"#
      other.say(.received(LinkMessage(topic: "orders", payload: Array(payload.utf8), quality: .atLeastOnce)))
    }
    try await there.system.play("wait:1ms")
    #expect(other.published.count == 1 && transport.published.count == 0)
    link = nil
    try await there.system.play("wait:1ms")
    #expect(transport.published.count == 1)
    try await there.system.play("wait:30s")
    #expect(there.take() == ["order 1", "missed 1 of orders", "order 3"])
  }

  @Test func `does not bring what is missing is given up after the patience of the link (4)`() async throws {
    var options = EventLink.Options()
    options.patience = .seconds(2)
    let there = try Process(transport, options: options) { try $0.receive(OrderPlaced.self, as: "orders") }
    try await there.system.play("launch")
    for id in [1, 3] {
      let payload =
        #"{"specversion":"1.0","id":"orders#\#(id)","source":"other","type":"OrderPlaced","sequence":"\#(id)","data":{"id":\#(id)}}"#
      transport.say(
        .received(LinkMessage(topic: "orders", payload: Array(payload.utf8), quality: .atLeastOnce)))
    }
    try await there.system.play("wait:1s")
    #expect(there.take() == ["order 1"])
    try await there.system.play("wait:2s")
    #expect(there.take() == ["missed 1 of orders", "order 3"])
  }

  @Test func `has a row of events has it before the next event of a slow coder`() async throws {
    let clock = Guarded<ManualClock?>(nil)
    let coding = EventLink.Coding<OrderPlaced> { order in
      clock.withLock { $0 }?.passTime(in: "coding of \(order.id)")
      return Array("\(order.id)".utf8)
    } decode: { _ in
      OrderPlaced(id: 0)
    }
    let here = try Process(transport) { link in
      try link.send(OrderPlaced.self, as: "orders", quality: .atMostOnce, coding: coding)
    }
    clock.withLock { $0 = here.system.clock }
    try await here.system.play("launch")
    here.system.clock.setLength(of: "coding of 2", to: .milliseconds(1))
    for id in 1...5 { here.bus.post(OrderPlaced(id: id)) }
    #expect(transport.rows == [])
    try await here.system.play("wait:10ms")
    #expect(transport.rows == [2, 3])
  }

  @Test func `sends faster than events are posted loses its connection once (12)`() async throws {
    let there = try Process(transport) { try $0.receive(OrderPlaced.self, as: "orders") }
    try await there.system.play("launch")
    // Nothing is posted until the simulation goes on.
    let message = LinkMessage(topic: "orders", payload: Array(repeating: 1, count: 1 << 20), quality: .atMostOnce)
    for _ in 0..<100 { transport.say(.received(message)) }
    try await there.system.play("wait:1ms")
    #expect(transport.ends == 2)
    #expect(there.take().count == 63)
    // The link is open again, and works.
    try await there.system.play("wait:1m")
    transport.say(.received(message))
    try await there.system.play("wait:1ms")
    #expect(there.take().count == 1)
  }

  /// The broker has no will of a connection that ends in order, and the process may die before it is there again.
  @Test func `sends faster than events are posted hears that the process has vanished (12, 13)`() async throws {
    let system = SimulatedSystem()
    let link = try EventLink(of: system.application, to: transport) { link in
      try link.announceLifeCycle(as: "shop/till")
      try link.receive(OrderPlaced.self, as: "orders")
    }
    try await system.play("launch")
    try await link.open()
    try await system.play("wait:1ms")
    let message = LinkMessage(topic: "orders", payload: Array(repeating: 1, count: 1 << 20), quality: .atMostOnce)
    for _ in 0..<100 { transport.say(.received(message)) }
    try await system.play("wait:1ms")
    let last = try #require(transport.last)
    #expect(last.topic == "shop/till" && last.isRetained)
    #expect(String(decoding: last.payload, as: UTF8.self).contains(#""state":"vanished""#))
    await #expect(throws: LinkError.connectionEnded(reason: "messages arrive faster than they are posted")) {
      try await link.run()
    }
  }
}
