import AppLifecycle
import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

@testable import EventLink

@MainActor @Suite(.timeLimit(.hang)) struct `Declarations of a link` {
  private let system = SimulatedSystem()
  private let broker = MemoryBroker()

  private func link(_ declare: (inout EventLink.Declarations) throws -> Void) throws -> EventLink {
    try EventLink(of: system.application, to: broker.transport(), declare)
  }

  @Test func `refuse wildcards where events are sent, and two types on one topic`() throws {
    #expect(throws: LinkError.notATopic("orders/#")) { try link { try $0.send(OrderPlaced.self, as: "orders/#") } }
    #expect(throws: LinkError.notATopic("")) { try link { try $0.receive(OrderPlaced.self, as: "") } }
    for filter in ["$share/workers/orders", "$queue/orders", "$exclusive/orders"] {
      #expect(throws: LinkError.notATopic(filter)) { try link { try $0.receive(OrderPlaced.self, as: filter) } }
      #expect(throws: LinkError.notATopic(filter)) { try link { try $0.follow(Fleet(), on: filter) } }
      #expect("\(LinkError.notATopic(filter))".contains("without it"))
    }
    #expect(throws: LinkError.twoTypes(topic: "orders")) {
      try link { link in
        try link.share(OrderPlaced.self, as: "orders")
        try link.share(Temperature.self, as: "orders")
      }
    }
    #expect(throws: LinkError.announcesAlready(as: "one")) {
      try link { link in
        try link.announceLifeCycle(as: "one")
        try link.announceLifeCycle(as: "two")
      }
    }
    for error in [LinkError.notATopic("x"), .twoTypes(topic: "x"), .announcesAlready(as: "x"), .isOpen, .isNotOpen] {
      #expect("\(error)".hasPrefix("the link") || "\(error)".contains("x"))
    }
  }

  private struct PumpStatus: BusEvent, StickyEvent, Codable { static var name: EventName { "Status" } }
  private struct DoorStatus: BusEvent, StickyEvent, Codable { static var name: EventName { "Status" } }

  /// Types of two modules, or private ones of two files, may have one name.
  @Test func `keep the latest event of another type with the same name (9)`() async throws {
    let process = try Process(broker.transport()) { link in
      try link.share(PumpStatus.self, as: "pump")
      try link.share(DoorStatus.self, as: "door")
    }
    try await process.system.play("launch")
    process.bus.post(PumpStatus())
    process.bus.post(DoorStatus())
    try await process.system.play("wait:1s")
    #expect(broker.retained.keys.sorted() == ["door", "pump"])
    process.link.removeLatest(of: PumpStatus.self)
    try await process.system.play("wait:1s")
    #expect(broker.retained.keys.sorted() == ["door"])
  }

  @Test func `are the same for the second link of a bus (2)`() async throws {
    let there = try Process(broker.transport()) { try $0.receive(OrderPlaced.self, as: "orders") }
    try await there.system.play("launch")
    let links = try (0..<2).map { _ in try link { try $0.share(OrderPlaced.self, as: "orders", quality: .atLeastOnce) }
    }
    for (number, link) in links.enumerated() {
      try system.application.manage("broker \(number)", while: .running) {
        try await link.open()
      } release: {
        await link.close()
      }
    }
    try await system.play("launch")
    system.bus.post(OrderPlaced(id: 1))
    try await system.play("wait:1s")
    try await there.system.play("wait:1s")
    // One number, two ways, one event.
    #expect(there.take() == ["order 1"])
  }

  @Test func `do not send what came over another link, but what its handlers post (2)`() async throws {
    let other = MemoryBroker()
    // It listens to both brokers and shares one type with both.
    let relay = try Process(broker.transport()) { try $0.share(OrderPlaced.self, as: "orders", quality: .atLeastOnce) }
    let second = try EventLink(of: relay.system.application, to: other.transport()) {
      try $0.share(OrderPlaced.self, as: "orders", quality: .atLeastOnce)
    }
    try relay.system.application.manage("other", while: .running) {
      try await second.open()
    } release: {
      await second.close()
    }
    let subscription = relay.bus.subscribe { [bus = relay.bus] (order: OrderPlaced) in
      if order.id == 1 { bus.post(OrderPlaced(id: 2)) }
    }
    let (here, there) = (
      try Process(broker.transport()) { try $0.share(OrderPlaced.self, as: "orders", quality: .atLeastOnce) },
      try Process(other.transport()) { try $0.share(OrderPlaced.self, as: "orders", quality: .atLeastOnce) }
    )
    for process in [relay, here, there] { try await process.system.play("launch") }
    here.bus.post(OrderPlaced(id: 1))
    for _ in 0..<3 { for process in [here, relay, there] { try await process.system.play("wait:1s") } }
    #expect(here.take().filter { $0.hasPrefix("order") } == ["order 1", "order 2"])
    #expect(there.take() == ["order 2"])
    withExtendedLifetime(subscription) {}
  }

  @Test func `let a newer version of a type through, and report what does not decode (11)`() async throws {
    let there = try Process(broker.transport()) { try $0.receive(OrderPlaced.self, as: "orders") }
    try await there.system.play("launch")
    for (id, data) in [#"{"id":1,"new":true}"#, #"{"id":"x"}"#, "null"].enumerated() {
      let payload = #"{"specversion":"1.0","id":"\#(id)","source":"other","type":"OrderPlaced","data":\#(data)}"#
      broker.publish(LinkMessage(topic: "orders", payload: Array(payload.utf8), quality: .atMostOnce))
    }
    try await there.system.play("wait:1s")
    #expect(
      there.take() == [
        "order 1", "rejected orders: its data is no OrderPlaced: “data.id” is no Int",
        "rejected orders: its data is no OrderPlaced: “data” is null, and no object",
      ])
  }

  @Test func `of all links of a bus are kept until the last one is released`() async throws {
    struct Refused: Error {}
    weak var hub: LinkHub?
    do {
      let first = try link { try $0.share(OrderPlaced.self, as: "orders") }
      hub = first.hub
      var second: EventLink? = try link { try $0.announceLifeCycle(as: "shop") }
      #expect(second?.hub === first.hub)
      second = nil
      #expect(throws: Refused.self) {
        try link { link in
          try link.share(Temperature.self, as: "rooms")
          throw Refused()
        }
      }
      #expect(try link { _ in }.hub === first.hub)
    }
    // What the end of a link leaves to do.
    try await system.play("wait:1s")
    #expect(hub == nil)
    #expect(throws: Refused.self) {
      try link { link in
        try link.share(OrderPlaced.self, as: "orders")
        throw Refused()
      }
    }
    // The topic has been forgotten.
    _ = try link { try $0.share(Temperature.self, as: "orders") }
  }
}
