import AppLifecycle
import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

/// The work of an application in a simulated suspension: it stands still, and goes on when the process runs again.
@MainActor @Suite(.timeLimit(.hang)) struct `In a simulated suspension` {
  private struct Refused: Error {}

  private let system = SimulatedSystem()
  private var application: Application { system.application }

  @MainActor private final class Owner {}

  @Test(arguments: ["open", "wake", "fetch"]) func `no retry is made, and the overdue one follows at once`(
    end: String
  ) async throws {
    var attempts: [Duration] = []
    try application.manage("connection", while: .running) { [clock = system.clock] in
      attempts.append(clock.now.offset)
      throw Refused()
    }
    try await system.play("launch; home; wait:5s")
    #expect(application.state == .suspended)
    let before = attempts.count
    try await system.play("wait:1h")
    #expect(attempts.count == before)
    try await system.play(end)
    #expect(attempts.count == before + 1 && attempts.last == .seconds(3605))
  }

  @Test func `no health check is made, and the overdue one follows at once`() async throws {
    var checks: [Duration] = []
    try application.manage("connection", while: .running, checkEvery: .seconds(10)) {
    } check: { [clock = system.clock] in
      checks.append(clock.now.offset)
    } release: {
      Issue.record("released")
    }
    try await system.play("launch; wait:25s; home; wait:5s; wait:1h")
    #expect(checks == [.seconds(10), .seconds(20), .seconds(30)])
    try await system.play("open; wait:10s")
    #expect(checks.dropFirst(3) == [.seconds(3630), .seconds(3640)])
    try await system.play("crash")
  }

  @Test func `a check under way is not late`() async throws {
    var checks = 0
    let connection = try application.manage("connection", while: .running, checkEvery: .seconds(10)) {
    } check: { [application] in
      checks += 1
      if checks == 1 { try await application.clock.sleep(for: .seconds(8)) }
    } release: {
      Issue.record("released")
    }
    try await system.play("launch; wait:9s; home; wait:5s; wait:1h; open; wait:5s")
    #expect(checks == 1 && connection.status == .held)
    try await system.play("crash")
  }

  @Test func `a periodic task stands still, and runs once afterwards`() async throws {
    var runs: [Duration] = []
    let owner = Owner()
    application.task(owner, every: .seconds(60)) { [clock = system.clock] _ in runs.append(clock.now.offset) }
    try await system.play("launch; home; wait:5s; wait:1h")
    #expect(runs == [.zero])
    try await system.play("open; wait:60s")
    #expect(runs == [.zero, .seconds(3605), .seconds(3665)])
  }

  @Test func `the program's own sleeps end when it runs again, in the order of their deadlines`() async throws {
    var log: [String] = []
    for seconds in [300, 100, 200] {
      application.task { [application, clock = system.clock] in
        try await application.clock.sleep(for: .seconds(seconds))
        log.append("\(seconds) at \(clock.now.offset.components.seconds)")
      }
      application.task { [application, clock = system.clock] in
        try await application.clock.sleep(until: .init(offset: .seconds(seconds + 7_200)))
        log.append("late \(seconds) at \(clock.now.offset.components.seconds)")
      }
    }
    try await system.play("launch; home; wait:5s; wait:1h")
    #expect(log == [])
    try await system.play("wake")
    #expect(log == ["100 at 3605", "200 at 3605", "300 at 3605"])
    try await system.play("open; wait:2h")
    #expect(log.suffix(3) == ["late 100 at 7300", "late 200 at 7400", "late 300 at 7500"])
  }

  /// A server goes on, and what it does may change what the program finds.
  @Test func `what sleeps on the clock of the simulation goes on`() async throws {
    var ticks = 0
    application.task { [clock = system.clock] in
      while true {
        try await clock.sleep(for: .seconds(60))
        ticks += 1
      }
    }
    try await system.play("launch; home; wait:5s; wait:1h")
    #expect(ticks == 60)
  }

  @Test func `a break is handled when the process runs again`() async throws {
    var log: [String] = []
    let connection = try application.manage("connection", while: .running) {
      log.append("acquire")
    } release: { _ in
      log.append("release")
    }
    system.addAction("outage", always: true) { connection.invalidate(because: Refused()) }
    try await system.play("launch; wait:1m; home; wait:5s; do:outage; wait:1h")
    #expect(log == ["acquire"])
    try await system.play("wake")
    #expect(log == ["acquire", "release", "acquire"])
  }

  /// Neither counts the time of the suspension.
  @Test func `a hold and a late release stand still`() async throws {
    var acquires = 0
    let connection = try application.manage("connection", while: .running) {
      acquires += 1
    } release: { [application] _ in
      try await application.clock.sleep(for: .milliseconds(4_500))
    }
    system.addAction("break") { connection.invalidate(because: Refused()) }
    // Held for 5 s of running: a failure.
    try await system.play("launch; home; wait:5s; wait:1h; wake; do:break; wait:4s")
    #expect(acquires == 1)
    // Suspended again, 1 s before its budget is up.
    try await system.play("suspend; wait:1h; open; wait:100ms")
    #expect(application.ledger.overruns == [])
    #expect(!system.record.contains { $0.kind == .report })
    try await system.play("wait:5s")
    #expect(acquires == 2)
    try await system.play("crash")
  }

  @Test func `work of a process that is killed does not go on`() async throws {
    var log: [String] = []
    let owner = Owner()
    try await system.play("launch")
    application.task(owner, every: .seconds(60)) { _ in log.append("run") }
    application.task { [application] in
      do { try await application.clock.sleep(for: .seconds(60)) } catch { log.append("\(error is CancellationError)") }
    }
    try await system.play("home; wait:5s; wait:1h")
    #expect(log == ["run"])
    try await system.play("reclaim; launch; wait:1h")
    #expect(log == ["run", "true"])
  }

  @Test(arguments: 0..<20 as Range<UInt64>) func `nothing is lost, in any order`(seed: UInt64) async throws {
    let system = SimulatedSystem(order: .seeded(seed))
    let application = system.application
    var ends = 0
    for second in 1...20 {
      application.task {
        try await application.clock.sleep(for: .seconds(second * 100))
        ends += 1
      }
    }
    try await system.play("launch; home; wait:5s; wait:1050s; open; home; wait:5s; wait:1h; kill")
    #expect(ends == 10, "seed \(seed)")
    #expect(system.clock.sleepers == 0)
  }
}
