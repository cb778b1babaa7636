import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

@testable import AppLifecycle

/// Loops, bodies and checks when a phase opens again, or an attempt follows another.
@MainActor @Suite(.timeLimit(.hang)) struct `When a phase opens again`: CornerSuite {
  let system = SimulatedSystem()
  let model = CornerModel()

  /// Keeps the phase `.active` from ending for two seconds.
  private func linger() -> EventBus.Subscription {
    system.bus.receive(Application.WillResignActive.self) { [clock] _ async throws in
      try await clock.sleep(for: .seconds(2))
    }
  }

  private func ends() -> (log: CornerModel, token: EventBus.Subscription) {
    let log = CornerModel()
    let token = system.bus.subscribe(to: Application.RunDidEnd.self) { log.lines.append("\($0.sequel)") }
    return (log, token)
  }

  @Test func `a loop that ended while the phase closed begins again`() async throws {
    let clock = clock
    var (acquires, loops) = (0, 0)
    try application.manage("client", while: .active, onReturn: .again) {
      acquires += 1
    } run: {
      loops += 1
      try await clock.sleep(for: .seconds(loops == 1 ? 21 : 100_000))
    } release: { _ in
    }
    let subscription = linger()
    try await system.play("launch; wait:20s; interrupt:call; wait:1500ms; end:call; wait:1m")
    #expect(acquires == 1 && loops == 2)
    subscription.cancel()
  }

  @Test func `a body whose owner is gone has not returned`() async throws {
    let clock = clock
    var owner: CornerModel? = CornerModel()
    application.run(owner!, while: .active, onReturn: .shutDown(status: 3)) { _ in
      try await clock.sleep(for: .seconds(50_000))
    }
    try await system.play("launch; wait:20s; interrupt:call")
    owner = nil
    let (log, token) = ends()
    let former = application.ledger.entries.count { $0.kind == .runBody }
    try await system.play("end:call; wait:1m")
    #expect(application.state == .active && log.lines == [])
    #expect(application.ledger.entries.count { $0.kind == .runBody } == former)
    #expect(application.manager.graph.order == [])
    token.cancel()
  }

  @Test func `nor has one whose owner goes in the pause before the next run`() async throws {
    var owner: CornerModel? = CornerModel()
    application.run(owner!, while: .active, onReturn: .again) { _ in throw CornerFailure() }
    let (log, token) = ends()
    try await system.play("launch")
    owner = nil
    try await system.play("wait:1m")
    #expect(log.lines.count == 1 && log.lines[0].hasPrefix("again"), "\(log.lines)")
    #expect(application.manager.graph.order == [])
    token.cancel()
  }

  @Test func `an acquire that has ended has no deadline, although its loop has not begun`() async throws {
    let (clock, application) = (clock, application)
    system.application.enforcesBudgets = false
    var acquires = 0
    try application.manage("client", while: .active) {
      acquires += 1
      application.send(.beginInterruption(.call))
      application.send(.endInterruption(.call))
    } run: {
      try await clock.sleep(for: .seconds(100_000))
    } release: { _ in
    }
    let subscription = linger()
    try await system.play("launch; wait:1m")
    #expect(acquires == 1 && application.ledger.overruns == [], "\(application.ledger)")
    subscription.cancel()
  }

  @Test func `a wait after another attempt does not end with the former error`() async throws {
    let application = application
    var works = false
    let database = try application.manage("database", while: .running, retry: RetryPolicy(maximumRetries: 0)) {
      if !works { throw CornerFailure() }
    }
    try await system.play("launch; wait:1m")
    #expect(database.status == .failed(failures: 1))
    let wait = application.task { () async throws -> Int in
      works = true
      database.retry()
      let cache = try application.manage("cache", while: .running, after: database) { _ in 5 }
      return try await cache.untilHeld()
    }
    await clock.settle()
    #expect(try await wait.value == 5)
  }

  @Test func `a body that throws before it is ready does not count as ready`() async throws {
    application.run(model, while: .running, readiness: .declared(), onError: .rest) { model in
      model.lines.append("run")
      if model.lines.count < 3 { throw CornerFailure() }
      declareReady()
    }
    let (log, token) = ends()
    try await system.play("launch")
    #expect(!application.manager.graph.holdsAllWanted && log.lines.count == 1, "\(log.lines)")
    try await system.play("wait:1m")
    #expect(application.manager.graph.holdsAllWanted && model.lines.count == 3)
    token.cancel()
  }

  @Test func `a body that broke once begins at once when its phase opens again`() async throws {
    let clock = clock
    application.run(model, while: .active, readiness: .declared(within: .seconds(1))) { model in
      model.lines.append("run")
      if model.lines.count > 1 { declareReady() }
      try await clock.sleep(for: .seconds(100_000))
    }
    let subscription = linger()
    try await system.play("launch; wait:1m; interrupt:call")
    #expect(model.lines.count == 2)
    await application.handle(.endInterruption(.call))
    await clock.settle()
    #expect(model.lines.count == 3)
    subscription.cancel()
  }

  @Test func `a release does not wait for a check that only sleeps`() {
    let lease = HeldLease(number: 1, began: .zero)
    lease.startChecks { Task {} }
    lease.checkBegins()
    lease.checkDidEnd()
    #expect(!lease.end(isHurried: false))
    let other = HeldLease(number: 2, began: .zero)
    other.startChecks { Task {} }
    other.checkBegins()
    #expect(other.end(isHurried: false))
  }

  @Test func `a cancelled caller's body does not keep its resource managed`() async throws {
    let (clock, application) = (clock, application)
    let a = try manage("a")
    let caller = application.task {
      try await application.run(while: .foreground, after: a) { _ in try await clock.sleep(for: .seconds(50_000)) }
    }
    try await system.play("launch; wait:20s")
    caller.cancel()
    #expect(throws: Never.self) { try application.unmanage(a) }
  }
}
