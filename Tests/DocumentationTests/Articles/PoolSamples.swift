import AppLifecycle
import AppLifecycleTesting
import PubSub
import Testing

// The pool of Sources/AppLifecycle/AppLifecycle.docc/HoldingResources.md, word for word.

@MainActor private enum PoolSamples {
  struct Database: Sendable {}
  struct Broken: Error {}

  actor Connection {
    nonisolated let number: Int
    private let lease: ResourceLease?

    init(_ number: Int, lease: ResourceLease?) async throws { (self.number, self.lease) = (number, lease) }
    nonisolated func fail() { lease?.invalidate(because: Broken()) }
    func close() {}
  }

  @MainActor final class Pool {
    private let connections: [ManagedResource<Connection>]

    init(of application: Application, after database: ManagedResource<Database>) throws {
      connections = try (1...3).map { number in
        try application.manage(
          "connection \(number)", while: .foreground, after: database
        ) { _ in
          try await Connection(number, lease: ResourceLease.current)
        } release: { connection in
          await connection.close()
        }
      }
    }

    /// Returns a connection that is held, or waits until one is.
    func connection() async throws -> Connection {
      try await withThrowingTaskGroup(of: Connection.self) { group in
        for connection in connections {
          group.addTask { try await connection.untilHeld() }
        }
        defer { group.cancelAll() }
        return try await group.next()!
      }
    }
  }

  static func use(
    _ pool: Pool, of application: Application, after database: ManagedResource<Database>,
    body: @escaping @MainActor (Connection) async throws -> Void
  ) {
    func work(with connection: Connection) async throws { try await body(connection) }
    application.run(pool, while: .foreground, after: database) { pool, _ in
      try await work(with: pool.connection())
    }
  }
}

extension PoolSamples.Pool {
  fileprivate var held: [PoolSamples.Connection] { connections.compactMap(\.current) }
}

@MainActor @Suite struct `The pool of the guide` {
  @Test func `lends a connection that is held, and waits where none is`() async throws {
    let system = SimulatedSystem()
    let application = system.application
    let database = try application.manage("database", while: .running) { PoolSamples.Database() }
    let pool = try PoolSamples.Pool(of: application, after: database)
    var used: [Int] = []
    PoolSamples.use(pool, of: application, after: database) { connection in
      used.append(connection.number)
      // Each use breaks the connection, much too early to be acquired again at once.
      connection.fail()
      try await application.clock.sleep(for: .milliseconds(10))
      throw PoolSamples.Broken()
    }
    try await system.play("launch")
    #expect(used == [1] && pool.held.isEmpty == false)
    for connection in pool.held { connection.fail() }
    try await system.play("wait:100ms")
    #expect(pool.held.isEmpty)
    let waiting = application.task { used.append(try await pool.connection().number + 100) }
    try await system.play("wait:10s")
    try await waiting.value
    #expect(used.contains { $0 > 100 })
    try await system.play("home")
    #expect(pool.held.isEmpty && application.ledger.overruns.isEmpty)
  }
}
