import AppLifecycleTesting
import Observation
import PubSub
import Scheduling
import TestTraits
import Testing

@testable import AppLifecycle

/// Resources and bodies that say themselves when others may rely on them.
@MainActor @Suite(.timeLimit(.hang)) struct `Readiness of a resource` {
  private struct Refused: Error, CustomStringConvertible { var description: String { "refused" } }

  private let system: SimulatedSystem
  private let notes: TimedNotes
  private var application: Application { system.application }

  init() {
    var configuration = Application.Configuration()
    configuration.retry.jitter = 0
    system = SimulatedSystem(configuration: configuration)
    notes = TimedNotes(system.clock)
  }

  private func write(_ text: String) { notes.write(text) }
  private func takeLines() -> [String] { notes.take() }

  private func status(of name: String) -> ResourceStatus? { application.resources.first { $0.name == name }?.status }

  /// A server, and a client that depends on it.
  @discardableResult
  private func manage(
    _ readiness: Readiness, onReturn: RunEnd = .invalidate, retry: RetryPolicy? = nil,
    run: (@MainActor () async throws -> Void)? = nil, check: (@MainActor () async throws -> Void)? = nil
  ) throws -> ManagedResource<Void> {
    let server = try application.manage(
      "server", while: .running, retry: retry, readiness: readiness, checkEvery: .seconds(10), onReturn: onReturn
    ) {
      write("+server")
    } run: { _ in
      if let run { try await run() } else { try await system.clock.sleep(for: .seconds(1_000_000)) }
    } check: { _ in
      try await check?()
    } release: { _ in
      write("-server")
    }
    try application.manage("client", while: .running, after: server) { _ in
      write("+client")
    } release: { _ in
      write("-client")
    }
    return server
  }

  private func sleep(_ duration: Duration) async throws { try await system.clock.sleep(for: duration) }

  @Test func `its dependents, and all that wait for it, wait for the declaration of its loop`() async throws {
    let server = try manage(.declared()) {
      try await sleep(.seconds(5))
      declareReady()
      declareReady()
      try await sleep(.seconds(1_000_000))
    }
    try await system.play("launch")
    application.task {
      _ = try? await server.untilHeld()
      write("held")
    }
    try await system.play("wait:4s")
    #expect(takeLines() == ["+server 0.0"])
    #expect(status(of: "server") == .acquiring && status(of: "client") == .waiting(for: "server"))
    try await system.play("wait:1h")
    #expect(takeLines().sorted() == ["+client 5.0", "held 5.0"])
    #expect(await application.untilResourcesAreHeld().isEmpty)
    #expect(status(of: "server") == .held)
    try await system.play("kill")
    #expect(takeLines() == ["-client 3604.0", "-server 3604.0"])
  }

  @Test func `it is being acquired from the beginning of its acquire until it is ready, without a change in between`()
    async throws
  {
    let changes = Guarded(0)
    let server = try application.manage("slow", while: .running, readiness: .declared()) {
      try await sleep(.seconds(1))
    } run: { _ in
      try await sleep(.seconds(1_000_000))
    } release: { _ in
    }
    try await system.play("launch")
    let began = application.resources[0].since
    withObservationTracking {
      #expect(server.status == .acquiring)
    } onChange: {
      changes.withLock { $0 += 1 }
    }
    try await system.play("wait:3s")
    #expect(server.current != nil, "it has been acquired")
    #expect(application.resources[0].status == .acquiring && application.resources[0].since == began)
    #expect(changes.withLock { $0 } == 0)
  }

  @Test func `a loop that fails before it is ready is a failure of its policy, and its dependents never begin`()
    async throws
  {
    var retry = RetryPolicy()
    (retry.jitter, retry.maximumRetries, retry.resetAfter) = (0, 2, .seconds(1))
    try manage(.declared(), retry: retry) {
      try await sleep(.seconds(2))
      throw Refused()
    }
    try await system.play("launch; wait:1h")
    #expect(
      takeLines() == [
        "+server 0.0", "-server 2.0", "+server 2.25", "-server 4.25", "+server 4.75", "-server 6.75",
      ])
    #expect(status(of: "server") == .failed(failures: 3))
  }

  @Test func `a declaration that never comes breaks it after its time`() async throws {
    try manage(.declared(within: .seconds(30)))
    try await system.play("launch; wait:31s")
    #expect(takeLines() == ["+server 0.0", "-server 30.0", "+server 30.25"])
    #expect(application.resources[0].lastError == "“server” was not ready within 30 s")
    // The process stands still, and so does the time.
    try await system.play("home; suspend; wait:1h; wake; wait:25s")
    #expect(takeLines() == [])
  }

  @Test func `a declaration after the end of its lease has no effect`() async throws {
    var leases: [ResourceLease] = []
    let server = try manage(.declared()) {
      leases.append(try #require(ResourceLease.current))
      try await sleep(.seconds(1_000_000))
    }
    try await system.play("launch")
    server.invalidate(because: Refused())
    try await system.play("wait:1s")
    #expect(leases.count == 2)
    leases[0].declareReady()
    try await system.play("wait:1s")
    #expect(status(of: "server") == .acquiring)
    leases[1].declareReady()
    try await system.play("wait:1s")
    #expect(status(of: "server") == .held && status(of: "client") == .held)
    declareReady()
  }

  @Test(arguments: [false, true]) func `only its first check makes a checked one ready, at once`(rests: Bool)
    async throws
  {
    var checks = 0
    try manage(.checked, onReturn: .rest) {
      declareReady()
      if !rests { try await sleep(.seconds(1_000_000)) }
    } check: {
      checks += 1
      try await sleep(.seconds(1))
      if checks == 1 { throw Refused() }
    }
    try await system.play("launch; wait:10s")
    #expect(takeLines() == ["+server 0.0", "-server 1.0", "+server 1.25", "+client 2.25"])
  }

  @Test func `a declaration may come before the acquire has ended`() async throws {
    try application.manage("server", while: .running, readiness: .declared()) {
      ResourceLease.current?.declareReady()
      try await sleep(.seconds(2))
    } run: {
      try await sleep(.seconds(1_000_000))
    }
    try await system.play("launch; wait:1s")
    #expect(status(of: "server") == .acquiring)
    try await system.play("wait:1s")
    #expect(status(of: "server") == .held)
  }

  @Test func `neither a loop that throws nor a lease that is invalid becomes ready`() async throws {
    var (runs, ends) = (0, 0)
    let retry = RetryPolicy(jitter: 0, maximumRetries: 1)
    let throwing = try application.manage(
      "throwing", while: .running, retry: retry, readiness: .declared(), onError: .rest
    ) {
    } run: {
      runs += 1
      throw Refused()
    }
    let invalid = try application.manage(
      "invalid", while: .running, retry: retry, readiness: .declared(), onReturn: .rest
    ) {
    } run: {
      ends += 1
      ResourceLease.current?.invalidate(because: Refused())
      declareReady()
    }
    try await system.play("launch; wait:1m")
    #expect(throwing.status == .failed(failures: 2) && runs == 2)
    #expect(invalid.status == .failed(failures: 2) && ends == 2)
  }

  @Test func `its changes are not told twice`() async throws {
    var statuses: [ResourceStatus] = []
    let subscription = system.bus.subscribe(to: Application.ResourceDidChange.self) { change in
      if change.resource.name == "server" { statuses.append(change.resource.status) }
    }
    try manage(.declared()) {
      try await sleep(.seconds(1))
      declareReady()
      try await sleep(.seconds(1_000_000))
    }
    try await system.play("launch; wait:2s; kill")
    #expect(statuses == [.acquiring, .held, .releasing, .idle])
    subscription.cancel()
  }

  @Test func `a loop that rests, and a body that returns, are ready`() async throws {
    try manage(.declared(), onReturn: .rest) { try await sleep(.seconds(3)) }
    let owner = TimedNotes(system.clock)
    application.run(owner, while: .running, readiness: .declared(within: .seconds(60))) { notes in
      try? await sleep(.seconds(8))
      notes.write("migrated")
    }
    try await system.play("launch")
    application.task {
      _ = await application.untilResourcesAreHeld()
      write("ready")
    }
    try await system.play("wait:1m")
    #expect(takeLines() == ["+server 0.0", "+client 3.0", "ready 8.0"])
    #expect(owner.lines == ["migrated 8.0"])
  }

  @Test func `one that was never ready is torn down like any other`() async throws {
    try manage(.declared())
    try await system.play("launch; kill")
    #expect(takeLines() == ["+server 0.0", "-server 0.0"])
    #expect(application.exitStatus == 0)
  }

  // MARK: After the last retry

  @Test(arguments: [0, 2]) func `a failure for good ends the application where its policy says so`(retries: Int)
    async throws
  {
    var retry = RetryPolicy()
    (retry.maximumRetries, retry.whenExhausted) = (retries, .shutDown(status: 3))
    try application.manage("log", while: .running) {
    } release: {
      write("-log")
    }
    try application.manage("server", while: .running, retry: retry) { throw Refused() }
    try await system.play("launch; wait:1m")
    #expect(application.state == .notRunning && application.exitStatus == 3)
    #expect(notes.lines.count == 1)
    #expect(system.record.last { $0.kind == .notification }?.cause.rawValue == "end of server")
  }

  @Test(arguments: [true, false]) func `fail-fast ends it when a loop ends, after whatever time`(throwing: Bool)
    async throws
  {
    try manage(.atOnce, retry: .failFast()) {
      try await sleep(.seconds(3600))
      if throwing { throw Refused() }
    }
    try await system.play("launch; wait:2h")
    #expect(application.state == .notRunning && application.exitStatus == 1)
    #expect(takeLines() == ["+server 0.0", "+client 0.0", "-client 3600.0", "-server 3600.0"])
  }

  /// The release of what depends on it may wait for a peer that is gone.
  @Test func `fail-fast ends it at the break, whatever the releases before its own do`() async throws {
    application.enforcesBudgets = false
    let server = try application.manage("server", while: .running, retry: .failFast(status: 3)) {
    } run: { _ in
      try await sleep(.seconds(1))
      throw Refused()
    } release: {
      write("-server")
    }
    try application.manage("client", while: .running, after: server) { _ in
    } release: { _ in
      write("-client begins")
      await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }
    try await system.play("launch; wait:1m")
    // Not 3, because the end was late.
    #expect(application.state == .notRunning && application.exitStatus == 70)
    #expect(takeLines() == ["-client begins 1.0", "-server 6.0"])
    #expect(system.record.filter { $0.kind == .ignored } == [])
  }
}
