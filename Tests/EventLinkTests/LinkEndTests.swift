import AppLifecycle
import AppLifecycleTesting
import EventLink
import PubSub
import Scheduling
import TestTraits
import Testing

/// The end of a process that has a link.
@MainActor @Suite(.timeLimit(.hang)) struct `The end of a process with a link` {
  private let broker = MemoryBroker()

  @Test func `names the events that it takes with it`() async throws {
    let process = try Process(broker.transport()) { link in
      try link.send(OrderPlaced.self, as: "orders", quality: .atLeastOnce)
      try link.send(Temperature.self, as: "temperature", quality: .atLeastOnce)
    }
    broker.isDown = true
    try await process.system.play("launch")
    for id in 1...3 { process.bus.post(OrderPlaced(id: id)) }
    process.bus.post(Temperature(degrees: 1))
    try await process.system.play("wait:1s")
    #expect(process.link.waitingCount == 3)
    try await process.system.play("kill")
    #expect(process.take() == ["order 1", "order 2", "order 3", "1 degrees", "lost 3 at the end"])
  }

  /// A broker that answers nothing lets each attempt to connect take its time.
  private final class SlowTransport: LinkTransport {
    let sleep = Guarded<(@Sendable () async throws -> Void)?>(nil)

    func connect(will: LinkMessage?, receive: @escaping @Sendable (LinkTransportEvent) -> Void) async throws {
      try await sleep.withLock { $0 }?()
      throw LinkError.connectionEnded(reason: "no answer")
    }

    func subscribe(to filters: [String], quality: LinkQuality) async throws {}
    func publish(_ message: LinkMessage, number: UInt64) -> Bool { false }
    func flush() {}
    func disconnect() async {}
  }

  @Test func `names them also while the link is being opened`() async throws {
    let transport = SlowTransport()
    let process = try Process(transport) { link in
      try link.send(OrderPlaced.self, as: "orders", quality: .atLeastOnce)
    }
    let clock = process.system.clock
    transport.sleep.withLock { $0 = { try await clock.sleep(for: .seconds(10)) } }
    try await process.system.play("launch; wait:1s")
    process.bus.post(OrderPlaced(id: 1))
    try await process.system.play("wait:1s; kill")
    #expect(process.take() == ["order 1", "lost 1 at the end"])
  }

  @Test func `names them also if the connection breaks as the resources are released`() async throws {
    let process = try Process(broker.transport()) { link in
      try link.send(OrderPlaced.self, as: "orders", quality: .atLeastOnce)
    }
    try process.system.application.manage("order", while: .running) {
    } release: { [broker, bus = process.bus] in
      broker.isDown = true
      bus.post(OrderPlaced(id: 1))
    }
    try await process.system.play("launch; kill")
    #expect(process.take() == ["order 1", "lost 1 at the end"])
  }

  @Test func `loses nothing if the link is up`() async throws {
    let process = try Process(broker.transport()) { link in
      try link.send(OrderPlaced.self, as: "orders", quality: .atLeastOnce)
    }
    try await process.system.play("launch")
    process.bus.post(OrderPlaced(id: 1))
    try await process.system.play("kill")
    #expect(process.take() == ["order 1", "acknowledged 1 of orders"] && process.link.waitingCount == 0)
  }

  @Test func `by a crash is seen at the broker at once, and the link can be opened again`() async throws {
    let watcher = try Process(broker.transport()) { _ in }
    let fleet = Fleet()
    let seeing = try EventLink(of: watcher.system.application, to: broker.transport()) { link in
      try link.follow(fleet, on: "shop/+")
    }
    try await seeing.open()
    let process = try Process(broker.transport()) { link in try link.announceLifeCycle(as: "shop/till") }
    try await process.system.play("launch")
    try await watcher.system.play("wait:1s")
    #expect(fleet.members.map(\.state.description) == ["active"])
    try await process.system.play("crash")
    try await watcher.system.play("wait:1s")
    #expect(fleet.members.map(\.state.description) == ["vanished"])
    try await process.system.play("launch")
    try await watcher.system.play("wait:1s")
    #expect(fleet.members.map(\.state.description) == ["active"])
  }

  @Test func `does not keep the application alive`() throws {
    weak var application: Application?
    do {
      let process = try Process(broker.transport()) { link in try link.announceLifeCycle(as: "shop/till") }
      application = process.system.application
      #expect(application != nil)
    }
    #expect(application == nil)
  }
}

/// Two types on topics that overlap.
@MainActor @Suite(.timeLimit(.hang)) struct `Filters that overlap` {
  private struct Reading: BusEvent, Codable, Hashable { var value: Int }
  private struct Humidity: BusEvent, StickyEvent, Codable { var percent: Int }
  private struct Warning: BusEvent, Codable, Hashable {
    var value: Int
    var text: String
  }

  @Test func `give an event to the type that has its name, and any other to each that it decodes as (10)`() async throws
  {
    let broker = MemoryBroker()
    let seen = Guarded<[String]>([])
    let note = { @Sendable (line: String) in seen.withLock { $0.append(line) } }
    let process = try Process(broker.transport()) { link in
      try link.receive(Reading.self, as: "home/#")
      try link.receive(Warning.self, as: "home/+/warnings")
    }
    let subscriptions = [
      process.bus.subscribe(to: Reading.self) { note("reading \($0.value)") },
      process.bus.subscribe(to: Warning.self) { note("warning \($0.value)") },
      process.bus.subscribe(to: EventLink.DidReject.self) { note($0.topic) },
    ]
    defer { for subscription in subscriptions { subscription.cancel() } }
    try await process.system.play("launch")
    let names = [Reading.name.rawValue, Warning.name.rawValue, "com.example.other"]
    for (number, name) in names.enumerated() {
      let data = #"{"value":\#(number),"text":"hot"}"#
      let event = #"{"specversion":"1.0","id":"\#(number)","source":"elsewhere","type":"\#(name)","data":\#(data)}"#
      broker.publish(LinkMessage(topic: "home/attic/warnings", payload: Array(event.utf8), quality: .atMostOnce))
    }
    try await process.system.play("wait:1s")
    #expect(seen.withLock { $0 } == ["reading 0", "warning 1", "reading 2", "warning 2"])
  }

  @Test func `lose only the event that a peer removes, and no other type's (9)`() async throws {
    let broker = MemoryBroker()
    let process = try Process(broker.transport()) { link in
      try link.receive(Temperature.self, as: "rooms/#")
      try link.receive(Humidity.self, as: "rooms/+/humidity")
    }
    let peer = try Process(broker.transport()) { link in
      try link.send(Temperature.self, as: "rooms/1/temperature")
      try link.send(Humidity.self, as: "rooms/1/humidity")
    }
    for process in [process, peer] { try await process.system.play("launch") }
    peer.bus.post(Temperature(degrees: 20))
    peer.bus.post(Humidity(percent: 40))
    for process in [peer, process] { try await process.system.play("wait:1s") }
    #expect(process.bus.latest(of: Humidity.self)?.percent == 40)
    peer.link.removeLatest(of: Humidity.self)
    for process in [peer, process] { try await process.system.play("wait:1s") }
    #expect(process.bus.latest(of: Humidity.self) == nil)
    #expect(process.bus.latest(of: Temperature.self)?.degrees == 20)
  }
}
