import AppLifecycle
import AppLifecycleTesting
import PubSub
import Testing

@testable import ConnectionManager

/// The monitor on a simulated device, with a server in the same world: every order is exact.
@Suite @MainActor struct ConnectionManagerTests {
  /// The world: device, program and server.
  @MainActor private final class World {
    let system: SimulatedSystem
    let server = MemoryServer()
    /// What happened to the resources: `connection held`.
    private var changes: [String] = []
    private(set) var messages: [String] = []

    init(_ change: (inout Options) -> Void = { _ in }) {
      var options = Options()
      options.retry.jitter = 0
      change(&options)
      let server = server
      system = SimulatedSystem { MonitorDelegate(options) { try server.connect() } }
      system.bus.subscribe(to: Application.ResourceDidChange.self, for: self) { world, event in
        world.changes.append("\(event.resource.name) \(event.resource.status)")
      }
      system.bus.subscribe(to: ServerMonitor.DidReceive.self, for: self) { world, event in
        world.messages.append(event.message)
      }
    }

    /// What happened to the resources since this was last asked, but for the waits.
    func news() -> [String] {
      defer { changes = [] }
      return changes.filter { !$0.contains("waiting") && !$0.contains("idle") }
    }

    var statuses: [ResourceStatus] { system.application.resources.map(\.status) }
    var connectionError: String? { system.application.resources.first?.lastError }
  }

  private static let acquired = [
    "connection acquiring", "connection held", "session acquiring", "session held", "subscription acquiring",
    "subscription held",
  ]
  private static let released = ["subscription releasing", "session releasing", "connection releasing"]
  private static let configure = "CONFIG SET notify-keyspace-events KEA"
  private static let subscribe = "PSUBSCRIBE __keyevent@*__:*"

  @Test func `All is acquired in order, and a message is shown`() async throws {
    let world = World()
    try await world.system.play("launch")
    #expect(world.news() == Self.acquired)
    #expect(world.server.log == ["1: \(Self.configure)", "1: \(Self.subscribe)"])
    world.server.set("one")
    await world.system.clock.settle()
    #expect(world.messages == ["__keyevent@0__:set one"])
    try await world.system.play("kill")
    #expect(world.news() == Self.released)
    #expect(world.server.log.last == "1: PUNSUBSCRIBE")
    #expect(world.server.openConnections == 0)
    #expect(world.system.record.violations == [])
  }

  @Test func `A server that is killed while the program is active is found again, and told everything again`()
    async throws
  {
    let world = World()
    try await world.system.play("launch; wait:20s")
    _ = world.news()
    world.server.kill()
    await world.system.clock.settle()
    // Held for longer than `resetAfter`, it is acquired again at once.
    #expect(world.news() == Self.released + ["connection acquiring", "connection retrying (1 failure)"])
    #expect(world.connectionError == "Connection refused")
    #expect(
      world.statuses == [.retrying(failures: 1), .waiting(for: "connection"), .waiting(for: "session")])
    try await world.system.play("wait:250ms; wait:500ms")
    #expect(
      world.news() == [
        "connection acquiring", "connection retrying (2 failures)", "connection acquiring",
        "connection retrying (3 failures)",
      ])
    world.server.start()
    try await world.system.play("wait:1s")
    #expect(world.news() == Self.acquired)
    #expect(world.server.log.suffix(2) == ["2: \(Self.configure)", "2: \(Self.subscribe)"])
    world.server.set("two")
    await world.system.clock.settle()
    #expect(world.messages == ["__keyevent@0__:set two"])
    #expect(world.server.openConnections == 1)
    #expect(world.system.record.violations == [])
  }

  @Test func `In the background the session is made anew, and the subscription waits for the foreground`() async throws
  {
    let world = World()
    try await world.system.play("launch; wait:20s; home; wait:1s")
    #expect(world.news() == Self.acquired + ["subscription releasing"])
    world.server.kill()
    world.server.start()
    await world.system.clock.settle()
    #expect(world.news() == ["session releasing", "connection releasing"] + Self.acquired.prefix(4))
    #expect(world.server.log.suffix(1) == ["2: \(Self.configure)"])
    try await world.system.play("open")
    #expect(world.news() == Self.acquired.suffix(2))
    #expect(world.system.record.violations == [])
  }

  @Test func `A server that is killed while the program is suspended is found after the return`() async throws {
    let world = World()
    try await world.system.play("launch; wait:20s; home; wait:1m")
    #expect(world.system.application.state == .suspended)
    _ = world.news()
    world.server.kill()
    try await world.system.play("open")
    #expect(world.statuses.first == .retrying(failures: 1))
    world.server.start()
    try await world.system.play("wait:250ms")
    #expect(world.news().suffix(6) == Self.acquired[...])
    #expect(world.server.log.suffix(2) == ["2: \(Self.configure)", "2: \(Self.subscribe)"])
    #expect(world.system.record.violations == [])
  }

  @Test func `A server that never answers is noticed by the check, and found when it answers again`() async throws {
    let world = World()
    try await world.system.play("launch; wait:19s")
    _ = world.news()
    world.server.stall()
    // The check that began after 20 s has 5 s.
    try await world.system.play("wait:5999ms")
    #expect(world.news() == [])
    try await world.system.play("wait:1ms")
    // The connection can be made, and the session is not answered.
    #expect(world.news() == Self.released + Self.acquired.prefix(3))
    #expect(world.connectionError?.contains("health check") == true)
    #expect(world.statuses == [.held, .acquiring, .waiting(for: "session")])
    // Nor is the first check of the new connection, which breaks it again: a failure in a row now, with its wait.
    try await world.system.play("wait:10s")
    #expect(world.news() == ["connection releasing", "connection retrying (1 failure)"])
    try await world.system.play("wait:1s")
    #expect(world.news() == Array(Self.acquired.prefix(3)))
    world.server.resume()
    await world.system.clock.settle()
    #expect(world.news() == Self.acquired.suffix(3))
    #expect(world.server.openConnections == 1)
    #expect(world.system.record.violations == [])
  }

  @Test func `A server that never answers holds up no end`() async throws {
    let world = World()
    world.server.stall()
    try await world.system.play("launch; wait:1s; kill")
    #expect(world.system.application.state == .notRunning)
    #expect(world.server.openConnections == 0)
    #expect(world.system.record.violations == [])
  }

  @Test func `A server that refuses the session is named, and asked again over the same connection`() async throws {
    let world = World()
    world.server.refused = ["CONFIG"]
    try await world.system.play("launch")
    #expect(world.statuses == [.held, .retrying(failures: 1), .waiting(for: "session")])
    #expect(world.system.application.resources[1].lastError == "\(Self.configure): ERR refused")
    world.server.refused = []
    try await world.system.play("wait:250ms")
    #expect(world.statuses == [.held, .held, .held])
    #expect(world.server.log.allSatisfy { $0.hasPrefix("1: ") })
  }

  @Test func `A server that refuses the check is connected to again`() async throws {
    let world = World()
    world.server.refused = ["PING"]
    try await world.system.play("launch; wait:5s")
    #expect(world.connectionError == "PING: ERR refused")
    #expect(world.statuses.first == .retrying(failures: 1))
  }

  @Test func `A connection that takes nothing is broken by the write that shows it`() async throws {
    let world = World()
    try await world.system.play("launch; wait:12s; home")
    _ = world.news()
    world.server.fill()
    try await world.system.play("open")
    #expect(world.connectionError == "the server takes nothing")
    #expect(world.news().suffix(6) == Self.acquired[...])
    #expect(world.server.openConnections == 1)
    #expect(world.system.record.violations == [])
  }

  @Test(arguments: ["CONFIG", "PSUBSCRIBE"])
  func `A connection that ends in the middle of a command is made anew, with all that depends on it`(
    command: String
  ) async throws {
    let world = World()
    world.server.dropsAt = command
    try await world.system.play("launch")
    #expect(world.statuses == [.retrying(failures: 1), .waiting(for: "connection"), .waiting(for: "session")])
    #expect(world.connectionError == "closed by the server")
    _ = world.news()
    try await world.system.play("wait:250ms")
    #expect(world.news() == Self.acquired)
    #expect(world.system.record.violations == [])
  }

  @Test func `A program that is ended and launched anew watches again`() async throws {
    let world = World()
    try await world.system.play("launch; kill; launch")
    #expect(world.statuses == [.held, .held, .held])
    world.server.set("one")
    await world.system.clock.settle()
    #expect(world.messages == ["__keyevent@0__:set one"])
    #expect(world.server.openConnections == 1)
  }

  @Test func `What the server says while the program is not in the foreground is not shown later`() async throws {
    let world = World()
    try await world.system.play("launch; home")
    world.server.set("unseen")
    try await world.system.play("open")
    world.server.set("seen")
    await world.system.clock.settle()
    #expect(world.messages == ["__keyevent@0__:set seen"])
  }

  @Test func `A thousand broken connections leave nothing behind, and the same script gives the same news`()
    async throws
  {
    func run() async throws -> [String] {
      let world = World { $0.retry.resetAfter = .zero }
      try await world.system.play("launch")
      let sleepers = world.system.clock.sleepers
      for round in 1...1_000 {
        #expect(world.news() == (round == 1 ? [] : Self.released) + Self.acquired)
        // What breaks at once is a failure, whatever the policy says.
        try await world.system.play("wait:1s")
        world.server.dropConnections()
        await world.system.clock.settle()
      }
      #expect(world.server.openConnections == 1)
      #expect(world.server.connectionsInMemory == 1)
      #expect(world.system.clock.sleepers == sleepers)
      #expect(world.server.log.count == 2 * 1_001)
      try await world.system.play("kill")
      #expect(world.server.connectionsInMemory == 0)
      #expect(world.system.clock.sleepers == 0)
      return world.system.record.map { "\($0)" }
    }
    #expect(try await run() == run())
  }
}
