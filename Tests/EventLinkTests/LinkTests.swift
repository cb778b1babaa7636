import AppLifecycleTesting
import EventLink
import PubSub
import TestTraits
import Testing

private struct Reading: BusEvent, Codable { var id: Int }

@MainActor @Suite(.timeLimit(.hang)) struct `A link` {
  private let broker = MemoryBroker()

  private func sharing(_ quality: LinkQuality) throws -> Process {
    try Process(broker.transport()) { link in
      try link.share(OrderPlaced.self, as: "orders/placed", quality: quality)
      try link.share(LabelDidChange.self, as: "labels")
      try link.share(Temperature.self, as: "rooms/1/temperature", quality: quality)
    }
  }

  /// Lets each process do what it can.
  private func settle(_ processes: Process...) async throws {
    for _ in 0..<3 { for process in processes { try await process.system.play("wait:1s") } }
  }

  @Test(arguments: LinkQuality.allCases)
  func `delivers in the order of the posts, once, and not back (1, 2)`(quality: LinkQuality) async throws {
    let (here, there) = (try sharing(quality), try sharing(quality))
    for process in [here, there] { try await process.system.play("launch") }
    for id in 1...5 { here.bus.post(OrderPlaced(id: id)) }
    here.bus.post(LabelDidChange(text: "new"))
    try await settle(here, there)
    let orders = (1...5).map { "order \($0)" }
    #expect(there.take() == orders + ["label new"])
    #expect(here.take().filter { !$0.hasPrefix("acknowledged") } == orders + ["label new"])
  }

  @Test func `gives the latest event of a sticky type to a process that connects later (8)`() async throws {
    let (here, there) = (try sharing(.atLeastOnce), try sharing(.atLeastOnce))
    try await here.system.play("launch")
    here.bus.post(Temperature(degrees: 20))
    here.bus.post(Temperature(degrees: 21))
    try await settle(here)
    try await there.system.play("launch")
    try await settle(there, here)
    #expect(there.take() == ["21 degrees"])
    #expect(there.bus.latest(of: Temperature.self)?.degrees == 21)
    here.link.removeLatest(of: Temperature.self)
    try await settle(here, there)
    #expect(there.bus.latest(of: Temperature.self) == nil)
    #expect(broker.retained.isEmpty)
  }

  @Test func `keeps what is posted while the broker is down (4, 8)`() async throws {
    let (here, there) = (try sharing(.atLeastOnce), try sharing(.atLeastOnce))
    for process in [here, there] { try await process.system.play("launch") }
    here.bus.post(OrderPlaced(id: 1))
    try await settle(here, there)
    broker.isDown = true
    try await settle(here, there)
    here.bus.post(OrderPlaced(id: 2))
    here.bus.post(Temperature(degrees: 1))
    here.bus.post(Temperature(degrees: 2))
    try await settle(here, there)
    #expect(there.take() == ["order 1"])
    broker.isDown = false
    for _ in 0..<30 { try await settle(there, here) }
    #expect(there.take() == ["order 2", "2 degrees"])
  }

  /// In a simulation, nothing is encoded before the script goes on.
  @Test func `keeps as many events of each topic as its options say, also of one that waits behind others (6)`()
    async throws
  {
    var options = EventLink.Options()
    (options.waiting, options.kept) = (20_000, 0)
    let here = try Process(broker.transport(), options: options) { link in
      try link.send(OrderPlaced.self, as: "orders", quality: .atLeastOnce)
      try link.send(Reading.self, as: "readings")
    }
    try await here.system.play("launch")
    here.bus.post(OrderPlaced(id: 1))
    for id in 1...20_002 { here.bus.post(Reading(id: id)) }
    try await here.system.play("wait:1s")
    #expect(here.take() == ["order 1", "dropped 2 of readings", "acknowledged 1 of orders"])
  }

  /// Few events that wait are no reason to drop what is posted in a row while the link is up.
  @Test func `drops nothing of a short row of posts while it is up (6)`() async throws {
    var options = EventLink.Options()
    options.waiting = 1
    let here = try Process(broker.transport(), options: options) { try $0.send(Reading.self, as: "readings") }
    try await here.system.play("launch")
    for id in 1...100 { here.bus.post(Reading(id: id)) }
    try await here.system.play("wait:1s")
    #expect(here.take() == [])
  }

  @Test(arguments: LinkQuality.allCases)
  func `counts from the first message that reaches it (5)`(quality: LinkQuality) async throws {
    let (here, there) = (try sharing(quality), try sharing(quality))
    try await here.system.play("launch")
    for id in 1...3 { here.bus.post(OrderPlaced(id: id)) }
    try await settle(here)
    try await there.system.play("launch")
    for id in 4...5 { here.bus.post(OrderPlaced(id: id)) }
    // Nothing is asked for, and nothing given up later.
    for _ in 0..<40 { try await settle(here, there) }
    #expect(there.take() == ["order 4", "order 5"])
  }

  @Test func `reports what the broker has taken of events that are sent at least once (7)`() async throws {
    let (careful, careless) = (try sharing(.atLeastOnce), try sharing(.atMostOnce))
    for process in [careful, careless] {
      try await process.system.play("launch")
      for id in 1...3 { process.bus.post(OrderPlaced(id: id)) }
      try await settle(process)
    }
    #expect(
      careful.take().filter { $0.hasPrefix("acknowledged") } == (1...3).map { "acknowledged \($0) of orders/placed" })
    #expect(!careless.take().contains { $0.hasPrefix("acknowledged") })
  }

  @Test(arguments: [false, true])
  func `removes the latest event of a sticky type for all (9)`(isDown: Bool) async throws {
    let (here, there) = (try sharing(.atLeastOnce), try sharing(.atLeastOnce))
    for process in [here, there] { try await process.system.play("launch") }
    there.bus.post(Temperature(degrees: 20))
    try await settle(there, here)
    #expect(here.bus.latest(of: Temperature.self)?.degrees == 20)
    // While the broker is down, it waits.
    broker.isDown = isDown
    here.link.removeLatest(of: Temperature.self)
    #expect(here.bus.latest(of: Temperature.self) == nil)
    try await settle(here, there)
    #expect((there.bus.latest(of: Temperature.self) == nil) == !isDown)
    broker.isDown = false
    for _ in 0..<30 { try await settle(here, there) }
    #expect(here.bus.latest(of: Temperature.self) == nil && broker.retained.isEmpty)
  }

  @Test func `hands a process its own sticky event once, also one that was posted while it was down (2, 8)`()
    async throws
  {
    let (here, there) = (try sharing(.atLeastOnce), try sharing(.atLeastOnce))
    for process in [here, there] { try await process.system.play("launch") }
    there.bus.post(Temperature(degrees: 5))
    try await settle(there, here)
    broker.isDown = true
    try await settle(here, there)
    here.bus.post(Temperature(degrees: 1))
    broker.isDown = false
    for _ in 0..<30 { try await settle(here, there) }
    #expect(here.take().filter { $0.hasSuffix("degrees") } == ["5 degrees", "1 degrees"])
    #expect(there.bus.latest(of: Temperature.self)?.degrees == 1)
  }

  @Test func `numbers an event before a handler posts another one (1, 8)`() async throws {
    let (here, there) = (try sharing(.atLeastOnce), try sharing(.atLeastOnce))
    for process in [here, there] { try await process.system.play("launch") }
    let subscription = here.bus.subscribe(to: Temperature.self, priority: .high) { [bus = here.bus] event in
      if event.degrees == 1 { bus.post(Temperature(degrees: 2)) }
    }
    here.bus.post(Temperature(degrees: 1))
    try await settle(here, there)
    for process in [here, there] { #expect(process.bus.latest(of: Temperature.self)?.degrees == 2) }
    #expect(there.take().filter { $0.hasSuffix("degrees") } == ["1 degrees", "2 degrees"])
    subscription.cancel()
  }

  /// Its handler posts before the other event is posted here, and after it came to the broker.
  @Test(arguments: [false, true])
  func `has as the latest what the broker has, though it posted between two events that arrived (8, 9)`(
    isRemoved: Bool
  ) async throws {
    let (here, there) = (try sharing(.atLeastOnce), try sharing(.atLeastOnce))
    for process in [here, there] { try await process.system.play("launch") }
    let subscription = here.bus.subscribe { [bus = here.bus] (_: OrderPlaced) in bus.post(Temperature(degrees: 1)) }
    there.bus.post(Temperature(degrees: 4))
    try await settle(there, here)
    there.bus.post(OrderPlaced(id: 1))
    if isRemoved { there.link.removeLatest(of: Temperature.self) } else { there.bus.post(Temperature(degrees: 5)) }
    try await settle(there, here)
    let expected = isRemoved ? ["4 degrees", "1 degrees"] : ["4 degrees", "1 degrees", "5 degrees"]
    #expect(here.take().filter { $0.hasSuffix("degrees") } == expected + ["1 degrees"])
    for process in [here, there] { #expect(process.bus.latest(of: Temperature.self)?.degrees == 1) }
    subscription.cancel()
  }
}
