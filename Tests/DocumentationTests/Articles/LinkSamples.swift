import AppLifecycle
import AppLifecycleTesting
import EventLink
import PubSub
import Testing

// The samples of the article Beyond one process, word for word.

struct OrderPlaced: BusEvent, Codable {
  let id: Int
}

struct Temperature: BusEvent, StickyEvent, Codable {
  let degrees: Double
}

struct Alarm: BusEvent, Codable {
  let room: String
}

@MainActor private final class Display {
  private(set) var shown: [Fleet.Member] = []

  func show(_ members: [Fleet.Member]) { shown = members }
}

@MainActor @Suite struct `The samples about links` {
  private let broker = MemoryBroker()

  private func checkout(_ application: Application, _ transport: any LinkTransport) throws {
    let link = try EventLink(of: application, to: transport) { link in
      try link.share(OrderPlaced.self, as: "orders/placed", quality: .atLeastOnce)
      try link.send(Temperature.self, as: "rooms/kitchen/temperature")
      try link.receive(Alarm.self, as: "alarms/#")
      try link.announceLifeCycle(as: "shop/checkout")
    }
    try application.manage("broker", while: .running) {
      try await link.open()
    } run: {
      try await link.run()
    } release: {
      await link.close()
    }
  }

  private func watch(_ application: Application, _ transport: any LinkTransport, _ display: Display) throws -> EventLink
  {
    let fleet = Fleet()
    let link = try EventLink(of: application, to: transport) { link in
      try link.follow(fleet, on: "shop/+")
    }
    application.bus.subscribe(to: Fleet.MemberDidChange.self, for: display) {
      display, change in
      display.show(change.fleet.members)
    }
    return link
  }

  @Test func `work`() async throws {
    let (here, there) = (SimulatedSystem(), SimulatedSystem())
    let display = Display()
    try checkout(here.application, broker.transport())
    let link = try watch(there.application, broker.transport(), display)
    try there.application.manage("broker", while: .running) {
      try await link.open()
    } release: {
      await link.close()
    }
    try await there.play("launch")
    try await here.play("launch; wait:1s")
    here.bus.post(Temperature(degrees: 20))
    try await here.play("wait:1s; kill")
    try await there.play("wait:1s")
    #expect(display.shown.map(\.state) == [.ended(status: 0)])
    #expect(broker.retained.keys.sorted() == ["rooms/kitchen/temperature", "shop/checkout"])
  }

  @Test func `work in memory`() async throws {
    let system = SimulatedSystem()
    let application = system.application
    let broker = MemoryBroker()
    let link = try EventLink(of: application, to: broker.transport()) { link in
      try link.share(OrderPlaced.self, as: "orders/placed", quality: .atLeastOnce)
    }
    try await system.play("launch")
    await link.close()
  }

  #if MQTT
    private func secure() -> MQTTTransport {
      let transport = MQTTTransport(
        host: "broker.example", security: .system,
        credentials: .init(name: "checkout", passwordFile: "/etc/shop/broker-password"))
      return transport
    }
  #endif
}
