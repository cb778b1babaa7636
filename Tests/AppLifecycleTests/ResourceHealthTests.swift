import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

@testable import AppLifecycle

/// How managed resources fare when something is wrong with them, and where it is reported.
@MainActor @Suite(.timeLimit(.hang)) struct `The health of managed resources` {
  private struct Failure: Error, CustomStringConvertible {
    var description: String { "no route" }
  }

  private let system: SimulatedSystem
  private let changes: Changes
  private var application: Application { system.application }
  private var clock: ManualClock { system.clock }

  /// Notes each change that is posted.
  @MainActor private final class Changes {
    var lines: [String] = []
    var subscription: EventBus.Subscription?

    func take(_ resource: ResourceHealth) { lines.append("\(resource.name) \(resource.status) at \(resource.since)") }
  }

  init() {
    // Without jitter the times are round.
    var configuration = Application.Configuration()
    configuration.retry.jitter = 0
    system = SimulatedSystem(configuration: configuration)
    let changes = Changes()
    changes.subscription = system.bus.subscribe(to: Application.ResourceDidChange.self, from: system.application) {
      [weak changes] in changes?.take($0.resource)
    }
    self.changes = changes
  }

  private func manage(
    _ name: String, while phase: LifecyclePhase = .foreground, after dependencies: [String] = [],
    failures: Int = 0, release: @escaping @MainActor () async throws -> Void = {}
  ) throws {
    var left = failures
    try application.manage(name, while: phase, after: dependencies) {
      left -= 1
      if left >= 0 { throw Failure() }
    } release: {
      try await release()
    }
  }

  // MARK: Failing acquires

  @Test func `an acquire that throws is tried again, later each time, and tells so`() async throws {
    try manage("connection", failures: 3)
    try await system.play("launch; wait:10s")
    #expect(
      changes.lines == [
        "connection acquiring at 0.0 seconds", "connection retrying (1 failure) at 0.0 seconds",
        "connection acquiring at 0.25 seconds",
        "connection retrying (2 failures) at 0.25 seconds", "connection acquiring at 0.75 seconds",
        "connection retrying (3 failures) at 0.75 seconds",
        "connection acquiring at 1.75 seconds", "connection held at 1.75 seconds",
      ])
    #expect(
      application.resources == [
        ResourceHealth(
          name: "connection", phase: .foreground, status: .held, failures: 0, lastError: "no route",
          since: .milliseconds(1_750))
      ])
    let entries = application.ledger.entries.filter { $0.name == "connection" }
    #expect(entries.map(\.step) == Array(repeating: "acquire", count: 4))
    #expect(entries.map(\.outcome) == Array(repeating: .failed("no route"), count: 3) + [.completed])
  }

  @Test func `health says how long it is until the next attempt`() async throws {
    try manage("connection", failures: 2)
    try await system.play("launch")
    #expect(application.resources.first?.retryDelay == .milliseconds(250))
    try await system.play("wait:300ms")
    #expect(application.resources.first?.retryDelay == .milliseconds(500))
    try await system.play("wait:1s")
    #expect(application.resources.first?.status == .held && application.resources.first?.retryDelay == nil)
    // Not while it is acquired again, either.
    try manage("other", failures: 1)
    try await system.play("home; open")
    #expect(application.resources.allSatisfy { $0.retryDelay == nil || $0.status == .retrying(failures: 1) })
  }

  @Test func `those that depend on one that cannot be acquired say so, and the others are not affected`() async throws {
    try manage("server", failures: .max)
    try manage("query", after: ["server"])
    try manage("view", after: ["query"])
    try manage("disk")
    try await system.play("launch; wait:600ms")
    #expect(
      application.resources.map(\.status) == [
        .retrying(failures: 2), .waiting(for: "server"), .waiting(for: "query"), .held,
      ])
    #expect(application.resources.map(\.failures) == [2, 0, 0, 0])
    #expect(application.resources.map(\.lastError) == ["no route", nil, nil, nil])
    #expect(application.state == .active, "a resource that fails does not keep the application from becoming active")
    // What is not wanted any more is not tried again, nor waited for.
    try await system.play("home")
    #expect(application.resources.map(\.status) == [.idle, .idle, .idle, .idle])
    #expect(application.resources.map(\.failures) == [0, 0, 0, 0])
    let before = changes.lines.count
    try await system.play("wait:1h")
    #expect(changes.lines.count == before)
    // On return it begins with the shortest wait anew.
    try await system.play("open; wait:100ms")
    #expect(application.resources.map(\.status).first == .retrying(failures: 1))
  }

  @Test func `a resource names the first dependency that is missing, then the next`() async throws {
    try manage("a", failures: 1)
    try manage("b", failures: 2)
    try manage("both", after: ["a", "b"])
    try await system.play("launch")
    #expect(application.resources.last?.status == .waiting(for: "a"))
    try await system.play("wait:500ms")
    #expect(application.resources.last?.status == .waiting(for: "b"))
    try await system.play("wait:500ms")
    #expect(application.resources.last?.status == .held)
    #expect(
      changes.lines.filter { $0.hasPrefix("both") } == [
        "both waiting for a at 0.0 seconds", "both waiting for b at 0.25 seconds",
        "both acquiring at 0.75 seconds", "both held at 0.75 seconds",
      ])
  }

  @Test func `an acquire that was cancelled is no failure`() async throws {
    let clock = clock
    try application.manage("slow", while: .active) {
      try await clock.sleep(for: .seconds(60))
    } release: { _ in
    }
    try await system.play("launch; wait:1s; interrupt:call; wait:1s")
    let health = application.resources.first
    #expect(health?.status == .idle && health?.failures == 0 && health?.lastError == nil)
    #expect(application.ledger.entries.last { $0.name == "slow" }?.outcome == .cancelled)
  }

  // MARK: Slow releases

  @Test func `a release that blocks too long is named, also where another's phase has ended it`() async throws {
    try manage("database")
    try manage("cache", while: .running, after: ["database"]) { [clock] in clock.passWithoutWaking(.seconds(6)) }
    try await system.play("launch; home")
    #expect(system.record.filter { $0.kind == .report }.map(\.name) == ["watchdog:cache"])
    #expect(application.state == .notRunning && application.ledger.late.map(\.name) == ["cache"])
  }

  // MARK: Failing releases

  @Test func `a release that throws has ended all the same, and is reported`() async throws {
    var releases = 0
    try manage("database", while: .running)
    try manage("connection", after: ["database"]) {
      releases += 1
      throw Failure()
    }
    let record = try await system.play("launch; home; open; kill")
    #expect(releases == 2)
    #expect(application.resources.map(\.status) == [.idle, .idle], "it keeps no other resource from being released")
    #expect(application.resources.map(\.lastError) == [nil, "no route"])
    let failed = application.ledger.entries.filter { $0.outcome == .failed("no route") }
    #expect(failed.map(\.name) == ["connection", "connection"] && failed.allSatisfy { $0.step == "release" })
    #expect(failed.first?.description == "connection (resource, release) 0 s, failed: no route")
    #expect(!record.contains { $0.kind == .report })
  }

  // MARK: The sequence of changes

  @Test func `each change is posted once, in order, and health is what was posted last`() async throws {
    let clock = clock
    try application.manage("database", while: .running) {
      try await clock.sleep(for: .seconds(1))
    } release: { _ in
      try await clock.sleep(for: .seconds(1))
    }
    try manage("query", after: ["database"])
    try await system.play("launch; wait:2s; home; kill")
    #expect(
      changes.lines == [
        "database acquiring at 0.0 seconds", "query waiting for database at 0.0 seconds",
        "database held at 1.0 seconds", "query acquiring at 1.0 seconds", "query held at 1.0 seconds",
        "query releasing at 2.0 seconds", "query idle at 2.0 seconds", "database releasing at 2.0 seconds",
        "database idle at 3.0 seconds",
      ])
    #expect(application.resources.map(\.since) == [.seconds(3), .seconds(2)])
    #expect(application.resources.map(\.phase) == [.running, .foreground])
  }

  @Test func `a process that vanishes leaves everything idle, and says so`() async throws {
    let held = try application.manage("held", while: .running) {
      7
    } release: { _ in
      Issue.record("released")
    }
    try manage("failing", failures: .max)
    try manage("waiting", after: ["failing"])
    try await system.play("launch")
    #expect(held.current == 7 && held.status == .held)
    changes.lines = []
    try await system.play("crash; wait:1h")
    #expect(changes.lines == ["held", "failing", "waiting"].map { "\($0) idle at 0.0 seconds" })
    #expect(held.current == nil && held.status == .idle)
    #expect(throws: ResourceError.notHeld("held"), "it was lost, not released") { try held.value }
  }

  // MARK: Use after release

  @Test func `code that asks for the value after the release gets an error, and is reported`() async throws {
    var reported: [String] = []
    let token = application.observe { event in
      if case .callEnded(let entry, _) = event, entry.outcome == .usedAfterRelease { reported.append(entry.name) }
    }
    let resource = try application.manage("connection", while: .foreground) {
      7
    } release: { _ in
    }
    #expect(throws: ResourceError.notHeld("connection")) { try resource.value }
    try await system.play("launch")
    #expect(try resource.value == 7)
    try await system.play("home")
    #expect(resource.current == nil)
    await clock.settle()
    #expect(reported.isEmpty, "to ask whether it is held is no mistake")
    #expect(throws: ResourceError.released("connection")) { try resource.value }
    await clock.settle()
    #expect(reported == ["connection"])
    let entry = application.ledger.entries.last
    #expect(entry?.name == "connection" && entry?.step == "use" && entry?.outcome == .usedAfterRelease)
    try await system.play("open")
    #expect(try resource.value == 7)
    token.cancel()
  }

  /// A thread may read it thousands of times a second, and an observer with each event.
  @Test func `only the first read after each release is reported`() async throws {
    let resource = try application.manage("connection", while: .foreground) {
      7
    } release: { _ in
    }
    var reads = 0
    let token = application.observe { event in
      guard case .callEnded(let entry, _) = event, entry.outcome == .usedAfterRelease, reads < 100 else { return }
      reads += 1
      _ = try? resource.value
    }
    func uses() -> Int { application.ledger.entries.filter { $0.outcome == .usedAfterRelease }.count }
    for expected in 1...2 {
      try await system.play("launch; open; home")
      for _ in 0..<3 { #expect(throws: ResourceError.released("connection")) { try resource.value } }
      await clock.settle()
      #expect(uses() == expected && reads == expected)
    }
    token.cancel()
  }

  @Test func `a value is gone from the moment on at which its release begins`() async throws {
    var resource: ManagedResource<Int>?
    var seen: [Int?] = []
    resource = try application.manage("connection", while: .foreground) {
      7
    } release: { handle in
      seen += [handle, resource?.current]
      #expect(throws: ResourceError.released("connection")) { try resource?.value }
    }
    try await system.play("launch; home")
    #expect(seen == [7, nil])
  }
}

/// What cannot be registered.
@MainActor @Suite struct `Registering managed resources` {
  private let application = SimulatedSystem().application

  private func manage(_ name: String, after dependencies: [String] = []) throws {
    try application.manage(name, while: .running, after: dependencies) {
    } release: { _ in
    }
  }

  @Test func `a name is taken once`() throws {
    try manage("a")
    #expect(throws: ResourceError.duplicateName("a")) { try manage("a") }
    #expect(throws: ResourceError.duplicateName("a")) { try manage("a", after: ["a"]) }
    #expect(application.resources.map(\.name) == ["a"])
  }

  @Test func `a dependency has to be managed, and may be named twice`() throws {
    let gone = try application.manage("gone", while: .running) {}
    try application.unmanage(gone)
    #expect(throws: ResourceError.unknownDependency("gone", of: "a")) {
      try application.manage("a", while: .running, after: gone) { _ in }
    }
    #expect(application.resources.isEmpty, "what was refused leaves nothing behind")
    try manage("a")
    try manage("later", after: ["a", "a"])
    #expect(application.resources.map(\.name) == ["a", "later"])
  }

  @Test func `a dependency of another application is foreign`() throws {
    let other = SimulatedSystem().application
    let foreign = try other.manage("database", while: .running) {
    } release: { _ in
    }
    #expect(throws: ResourceError.foreignDependency("database", of: "cache")) {
      try application.manage("cache", while: .running, after: foreign) { _ in
      } release: { _ in
      }
    }
  }

  @Test(arguments: [
    (ResourceError.duplicateName("a"), "a resource named “a” is managed already"),
    (.unknownDependency("a", of: "b"), "“b” depends on “a”, which is not managed"),
    (.foreignDependency("a", of: "b"), "“b” depends on “a”, which another application manages"),
    (.notHeld("a"), "“a” has not been acquired yet"),
    (.released("a"), "“a” has been released"),
  ])
  func `errors are sentences`(error: ResourceError, sentence: String) { #expect("\(error)" == sentence) }
}
