import AppLifecycleTesting
import PubSub
import ResourceScenarios
import TestTraits
import Testing

@testable import AppLifecycle

/// Handles that have to be run while they are held, and health checks.
@MainActor @Suite(.timeLimit(.hang)) struct `Run loops of resources` {
  private struct Failure: Error, CustomStringConvertible {
    var description: String { "stream closed" }
  }

  /// A client as PostgresNIO has them: nothing works unless `run` runs.
  @MainActor private final class Client {
    let name: String
    var isRunning = false
    private var end: CheckedContinuation<Void, any Error>?

    init(_ name: String) { self.name = name }

    func run() async throws {
      isRunning = true
      defer { isRunning = false }
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { end = $0 }
      } onCancel: {
        Task { @MainActor in self.finish(throwing: CancellationError()) }
      }
    }

    func finish(throwing error: (any Error)? = nil) {
      let end = end
      self.end = nil
      if let error { end?.resume(throwing: error) } else { end?.resume() }
    }
  }

  @MainActor private final class World {
    /// Whether checks find the resource in order.
    var isWell = true
  }

  private let system: SimulatedSystem
  private let world = World()
  private let notes: TimedNotes
  private var application: Application { system.application }
  private var clock: ManualClock { system.clock }

  init() {
    var configuration = Application.Configuration()
    configuration.retry.jitter = 0
    system = SimulatedSystem(configuration: configuration)
    notes = TimedNotes(system.clock)
  }

  private func write(_ text: String) { notes.write(text) }
  private func takeLines() -> [String] { notes.take() }

  /// A plain resource.
  @discardableResult
  private func manage(_ name: String, after dependencies: [String] = []) throws -> ManagedResource<Void> {
    try application.manage(name, while: .foreground, after: dependencies) {
      write("+\(name)")
    } release: {
      write("-\(name)")
    }
  }

  /// A resource in the middle of a chain of four whose loop sleeps until it is cancelled, or does what it is told.
  @discardableResult
  private func manageChain(
    onReturn: RunEnd = .invalidate, onError: RunEnd = .invalidate, retry: RetryPolicy? = nil,
    run: @escaping @MainActor (_ lease: Int) async throws -> Void
  ) throws -> ManagedResource<Int> {
    try manage("a")
    var acquires = 0
    let b = try application.manage(
      "b", while: .foreground, after: ["a"], retry: retry, onReturn: onReturn, onError: onError
    ) {
      acquires += 1
      write("+b")
      return acquires
    } run: { lease in
      write("run b")
      defer { write("end b") }
      try await run(lease)
    } release: { _ in
      write("-b")
    }
    try manage("c", after: ["b"])
    try manage("d", after: ["c"])
    return b
  }

  private func sleepUntilCancelled() async throws { try await clock.sleep(for: .seconds(1_000_000)) }

  private var steps: [String] {
    application.ledger.entries.filter { $0.kind == .resource }.map {
      "\($0.name) \($0.step) \($0.outcome)"
    }
  }

  // MARK: Order

  @Test func `a loop begins after the acquire and ends before the release, in the order of the graph`() async throws {
    try manageChain { _ in try await sleepUntilCancelled() }
    try await system.play("launch; wait:1m")
    #expect(takeLines() == ["+a 0.0", "+b 0.0", "run b 0.0", "+c 0.0", "+d 0.0"])
    try await system.play("home")
    #expect(takeLines() == ["-d 60.0", "-c 60.0", "end b 60.0", "-b 60.0", "-a 60.0"])
    try await system.play("open")
    #expect(takeLines().sorted() == ["+a 60.0", "+b 60.0", "+c 60.0", "+d 60.0", "run b 60.0"])
    #expect(application.resources.allSatisfy { $0.status == .held })
  }

  @Test(arguments: [true, false])
  func `a loop that throws or returns early invalidates its resource`(fails: Bool) async throws {
    try manageChain { lease in
      try await clock.sleep(for: .seconds(20))
      guard lease < 2 else { return try await sleepUntilCancelled() }
      if fails { throw Failure() }
    }
    try await system.play("launch; wait:1s")
    _ = (takeLines(), application.ledger)
    let before = steps.count
    try await system.play("wait:30s")
    #expect(
      takeLines() == [
        "end b 20.0", "-d 20.0", "-c 20.0", "-b 20.0", "+b 20.0", "run b 20.0", "+c 20.0", "+d 20.0",
      ])
    let reason = fails ? "stream closed" : "the run loop of “b” returned"
    #expect(
      Array(steps.dropFirst(before)) == [
        "b run \(fails ? "failed(\"stream closed\")" : "completed")", "b invalidate failed(\"\(reason)\")",
        "d release completed", "c release completed", "b release completed",
        "b acquire completed", "c acquire completed", "d acquire completed",
      ])
    #expect(application.resources[1].lastError == reason)
  }

  /// The same on a real host: `BreakingChainTests`.
  @Test(arguments: BreakingChain.Ending.allCases)
  func `a chain is released and acquired again around a loop that ends, or does not`(ending: BreakingChain.Ending)
    async throws
  {
    try BreakingChain(ending) { notes.lines.append($0) }.manage(in: application)
    try await system.play("launch; wait:1m")
    #expect(takeLines() == ending.lines)
    let late = system.record.filter { $0.kind == .report }.map(\.name)
    #expect(late == (ending == .ignoresCancellation ? ["watchdog:b"] : []))
    #expect(application.resources.allSatisfy { $0.status == .held })
    let invalidated = steps.filter { $0.contains("invalidate") }
    #expect(invalidated.count == 1 && invalidated[0].hasPrefix("b "))
  }

  @Test func `a real client runs whenever its resource is held`() async throws {
    var clients: [Client] = []
    let resource = try application.manage("client", while: .active) {
      clients.append(Client("\(clients.count)"))
      return clients[clients.count - 1]
    } run: { client in
      try await client.run()
    } release: { client in
      let isRunning = client.isRunning
      #expect(!isRunning)
    }
    try await system.play("launch; wait:1m")
    #expect(clients.map(\.isRunning) == [true])
    clients[0].finish(throwing: Failure())
    try await system.play("wait:1s")
    #expect(clients.map(\.isRunning) == [false, true] && resource.current === clients[1])
    try await system.play("home; wait:1s; open; wait:1s")
    #expect(clients.map(\.isRunning) == [false, false, true])
  }

  @Test func `a loop that never begins to end is named, and left behind at the deadline`() async throws {
    // No clock of the simulation: it ends for nothing but the test.
    let (gate, opener) = AsyncStream.makeStream(of: Void.self)
    defer { opener.finish() }
    let system = SimulatedSystem()
    // As on a real host.
    system.application.enforcesBudgets = false
    var lines: [String] = []
    try system.application.manage("stuck", while: .foreground) {
      lines.append("acquire")
    } run: {
      await Task { for await _ in gate {} }.value
    } release: {
      lines.append("release\(Task.isCancelled ? ", cancelled" : "")")
    }
    try await system.play("launch; home; wait:1s; open; wait:1s")
    #expect(lines == ["acquire", "release, cancelled", "acquire"])
    #expect(system.record.filter { $0.kind == .report }.map(\.name) == ["watchdog:stuck"])
    #expect(system.application.resources[0].status == .held)
  }

  // MARK: What the end means

  @Test func `a loop that is to rest ends alone, until its resource is acquired anew`() async throws {
    try manageChain(onReturn: .rest) { _ in }
    try await system.play("launch; wait:1h")
    #expect(takeLines() == ["+a 0.0", "+b 0.0", "run b 0.0", "end b 0.0", "+c 0.0", "+d 0.0"])
    try await system.play("home; open")
    #expect(takeLines().filter { $0.hasPrefix("run") } == ["run b 3600.0"])
  }

  @Test func `a loop that is to run again waits longer each time, then gives its resource up`() async throws {
    var retry = RetryPolicy()
    (retry.jitter, retry.maximumRetries) = (0, 2)
    let b = try manageChain(onError: .again, retry: retry) { _ in throw Failure() }
    try await system.play("launch; wait:10m")
    let lines = takeLines()
    #expect(lines.filter { $0.hasPrefix("run") } == ["run b 0.0", "run b 0.25", "run b 0.75"])
    #expect(lines.suffix(3) == ["-d 0.75", "-c 0.75", "-b 0.75"], "\(lines)")
    #expect(b.status == .failed(failures: 3))
  }

  @Test func `a loop that is to end the application ends it in order, with its status`() async throws {
    try manageChain(onError: .shutDown(status: 70)) { _ in
      try await clock.sleep(for: .seconds(5))
      throw Failure()
    }
    try await system.play("launch; wait:1m")
    #expect(system.application.state == .notRunning && system.application.exitStatus == 70)
    #expect(takeLines().suffix(4) == ["-d 5.0", "-c 5.0", "-b 5.0", "-a 5.0"])
    #expect(system.record.last { $0.kind == .notification }?.cause.rawValue == "end of b")
  }

  @Test func `a cancellation error of its own counts as a return`() async throws {
    try manageChain(onReturn: .rest, onError: .shutDown(status: 1)) { _ in throw CancellationError() }
    try await system.play("launch; wait:1h")
    #expect(application.state == .active && application.resources.allSatisfy { $0.status == .held })
  }

  // MARK: Asked first

  @Test func `a loop that listens is asked first, and cancelled only when its time is up`() async throws {
    let drain = AsyncStream.makeStream(of: Void.self)
    try application.manage("server", while: .foreground) {
    } run: {
      await withPhaseClosingHandler {
        for await _ in drain.stream {}
        write("drained\(Task.isCancelled ? ", cancelled" : "")")
        try? await clock.sleep(for: .seconds(2))
        write("ended\(Task.isCancelled ? ", cancelled" : "")")
      } onClose: {
        drain.continuation.finish()
      }
    } release: {
      write("released")
    }
    try await system.play("launch; home")
    #expect(takeLines() == ["drained 0.0", "ended 2.0", "released 2.0"])
  }

  @Test func `a loop is shut down by asynchronous code, once, and only if it is asked to end`() async throws {
    let clock = system.clock
    var shutDowns = 0
    @MainActor func serve(for time: Duration) async {
      let drain = AsyncStream.makeStream(of: Void.self)
      let end = application.task {
        try await clock.sleep(for: time); drain.continuation.finish()
      }
      await withPhaseClosingHandler {
        for await _ in drain.stream {}
        write("drained\(Task.isCancelled ? ", cancelled" : "")")
      } shutDown: { @MainActor in
        shutDowns += 1
        try? await clock.sleep(for: .seconds(1))
        drain.continuation.finish()
      }
      end.cancel()
    }
    try application.manage("short", while: .foreground, onReturn: .rest) {
    } run: {
      await serve(for: .seconds(5))
    }
    try application.manage("long", while: .foreground) {
    } run: {
      await serve(for: .seconds(5000))
    }
    try await system.play("launch; wait:1m; home")
    #expect(takeLines() == ["drained 5.0", "drained 61.0"])
    #expect(shutDowns == 1)
    // Elsewhere it only performs the operation.
    await withPhaseClosingHandler {
      write("plain")
    } shutDown: { @MainActor in
      shutDowns += 1
    }
    #expect(shutDowns == 1 && takeLines() == ["plain 61.0"])
  }

  @Test func `a resource whose loop still drains is not current, and is released later`() async throws {
    let resource = try application.manage("worker", while: .foreground) {
      7
    } run: { _ in
      await phaseCloses()
      try? await clock.sleep(for: .seconds(2))
    } release: { _ in
      write("released")
    }
    let statuses = application.bus.subscribe(to: Application.ResourceDidChange.self) { _ in
      write("\(resource.status) \(resource.current.map(String.init) ?? "-")")
    }
    defer { statuses.cancel() }
    try await system.play("launch")
    #expect(takeLines() == ["acquiring - 0.0", "held 7 0.0"])
    application.task(world) { _ in
      try await clock.sleep(for: .seconds(1))
      write("\(resource.status) \(resource.current.map(String.init) ?? "-")")
      #expect(throws: ResourceError.released("worker")) { try resource.value }
    }
    try await system.play("home")
    #expect(takeLines() == ["releasing 7 0.0", "releasing - 1.0", "released 2.0", "idle - 2.0"])
  }

  @Test func `one that waits for the close is told, and a cancelled one goes on as well`() async throws {
    var bodies = 0
    application.run(self.world, while: .active) { world in
      bodies += 1
      await phaseCloses()
      notes.lines.append("closes\(Task.isCancelled ? ", cancelled" : "")")
    }
    try await system.play("launch; home; open")
    #expect(takeLines() == ["closes"] && bodies == 2)
    try await system.play("kill")
    // Where no application runs the task, only its own cancellation ends the wait.
    let outside = Task { await phaseCloses() }
    outside.cancel()
    await outside.value
    #expect(
      await withPhaseClosingHandler {
        1
      } onClose: {
      } == 1)
  }

  // MARK: Checks

  @Test func `a check that throws invalidates, and is asked every so often`() async throws {
    var checks = 0
    try application.manage("peer", while: .active, checkEvery: .seconds(5)) {
      write("+peer")
    } check: {
      checks += 1
      if !world.isWell { throw Failure() }
    } release: {
      write("-peer")
    }
    try await system.play("launch; wait:21s")
    #expect(checks == 4 && takeLines() == ["+peer 0.0"])
    world.isWell = false
    try await system.play("wait:4s")
    #expect(takeLines() == ["-peer 25.0", "+peer 25.0"] && application.resources[0].lastError == "stream closed")
    world.isWell = true
    try await system.play("home; wait:1s")
    checks = 0
    try await system.play("wait:1h")
    #expect(checks == 0, "nothing is held")
  }

  @Test func `a resource whose every check fails waits longer each time, and is given up`() async throws {
    let peer = try application.manage("peer", while: .running, retry: RetryPolicy(maximumRetries: 3)) {
      1
    } check: { _ in
      throw Failure()
    }
    try await system.play("launch; wait:31s")
    #expect(peer.status == .held && application.resources[0].lastError == "stream closed")
    try await system.play("wait:1h")
    #expect(peer.status == .failed(failures: 4))
  }

  @Test func `a check that never returns is a failure, but the time of a suspension is not`() async throws {
    let clock = clock
    try application.manage("peer", while: .running, checkEvery: .seconds(5)) {
      write("+peer")
    } check: {
      if !world.isWell { try await clock.sleep(for: .seconds(1_000)) }
    } release: {
      write("-peer")
    }
    try await system.play("launch; wait:1m")
    world.isWell = false
    try await system.play("wait:10s")
    #expect(takeLines() == ["+peer 0.0", "-peer 70.0", "+peer 70.0"])
    #expect(application.resources[0].lastError == "the health check of “peer” did not return within 5 s")
    world.isWell = true
    // Its answer arrives after the return, which is soon enough.
    try application.manage("sleeper", while: .running, checkEvery: .seconds(10)) {
      write("+sleeper")
    } check: {
      try await clock.sleep(for: .seconds(3_600))
    } release: {
      write("-sleeper")
    }
    try await system.play("wait:8s; home; wait:30m")
    #expect(application.state == .suspended)
    #expect(takeLines() == ["+sleeper 70.0"])
    // From the return on it has its whole time again.
    try await system.play("open; wait:9s")
    #expect(takeLines() == [], "\(application.resources)")
    try await system.play("wait:10s")
    #expect(takeLines().first?.hasPrefix("-sleeper") == true)
  }
}
