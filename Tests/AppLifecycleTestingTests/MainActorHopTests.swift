import AppLifecycle
import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

/// The way back from an actor through main-actor functions: no time passes on it.
///
/// Each function on that way costs passes through the main queue, which the simulation's executor does not see.
@MainActor @Suite(.timeLimit(.hang)) struct MainActorHopTests {
  private let system = SimulatedSystem()

  /// The way from a body to its sleep, and what the sleep ends with.
  enum Way: CaseIterable, Sendable {
    case function, storedClosure, caughtInside, translated, nested, throughAnActorTwice
  }

  @Test(arguments: Way.allCases)
  func `a body that is cancelled in an actor ends at once`(_ way: Way) async throws {
    let model = Model(Sleeper(system.clock))
    system.application.run(model, while: .foreground, label: "body") { model in try await model.work(way) }
    try await system.play("launch; wait:1s; home")
    #expect(system.clock.now.offset == .seconds(1))
    #expect(system.application.ledger.late.isEmpty)
  }

  @Test(arguments: [1, 2, 3, 5, 10, 30, 100, 900])
  func `the clock does not advance while an error passes through main-actor functions`(_ depth: Int) async throws {
    let clock = system.clock
    let model = Model(Sleeper(clock))
    let caught = Guarded<ManualClock.Instant?>(nil)
    let next = Guarded(false)
    let start = TaskStarter(clock: clock)
    start.startOnMainActor {
      do { try await model.fails(through: depth) } catch { caught.withLock { $0 = clock.now } }
    }
    start.startOnMainActor {
      try? await clock.sleep(for: .seconds(2))
      next.withLock { $0 = true }
    }
    try await clock.advance(by: .seconds(2))
    #expect(next.withLock { $0 })
    #expect(caught.withLock { $0 }?.offset == .seconds(1))
  }

  @Test(arguments: [1, 10, 100])
  func `nor while a value does`(_ depth: Int) async throws {
    let clock = system.clock
    let model = Model(Sleeper(clock))
    let returned = Guarded<ManualClock.Instant?>(nil)
    TaskStarter(clock: clock).startOnMainActor {
      let value = await model.returns(through: depth)
      if value == depth { returned.withLock { $0 = clock.now } }
    }
    TaskStarter(clock: clock).startOnMainActor { try? await clock.sleep(for: .seconds(2)) }
    try await clock.advance(by: .seconds(2))
    #expect(returned.withLock { $0 }?.offset == .seconds(1))
  }

  @Test(arguments: [false, true])
  func `nor during calls of main-actor functions, even if other code keeps the main actor busy`(_ isBusy: Bool)
    async throws
  {
    let spinner = Task { @MainActor in while isBusy, !Task.isCancelled { await Task.yield() } }
    defer { spinner.cancel() }
    let clock = system.clock
    let model = Model(Sleeper(clock))
    let ended = Guarded<ManualClock.Instant?>(nil)
    TaskStarter(clock: clock).startOnMainActor {
      await model.calls(times: 3_000)
      ended.withLock { $0 = clock.now }
    }
    TaskStarter(clock: clock).startOnMainActor { try? await clock.sleep(for: .seconds(2)) }
    try await clock.advance(by: .seconds(2))
    #expect(ended.withLock { $0 }?.offset == .seconds(1))
    #expect(clock.now.offset == .seconds(2))
  }

  @Test func `a value passes through main-actor functions while other code keeps the main actor busy`() async throws {
    let spinner = Task { @MainActor in while !Task.isCancelled { await Task.yield() } }
    defer { spinner.cancel() }
    try await `nor while a value does`(100)
  }
}

private actor Sleeper {
  let clock: ManualClock
  init(_ clock: ManualClock) { self.clock = clock }

  func sleep() async throws { try await clock.sleep(for: .seconds(60)) }

  func fail() async throws {
    try await clock.sleep(for: .seconds(1))
    throw CancellationError()
  }

  func wait() async { try? await clock.sleep(for: .seconds(1)) }

  func sleep(with other: Model) async throws { try await other.work(.nested) }
}

@MainActor private final class Model {
  struct Failure: Error {}

  let sleeper: Sleeper
  let stored: @MainActor () async throws -> Void

  init(_ sleeper: Sleeper) {
    self.sleeper = sleeper
    stored = { try await sleeper.sleep() }
  }

  func work(_ way: MainActorHopTests.Way) async throws {
    switch way {
    case .function: try await sleeper.sleep()
    case .storedClosure: try await stored()
    case .caughtInside: do { try await nested(4) } catch {}
    case .translated: do { try await sleeper.sleep() } catch { throw Failure() }
    case .nested: try await nested(20)
    case .throughAnActorTwice: try await sleeper.sleep(with: self)
    }
  }

  private func nested(_ depth: Int) async throws {
    if depth == 0 { try await sleeper.sleep() } else { try await nested(depth - 1) }
  }

  func fails(through depth: Int) async throws {
    if depth == 0 { try await sleeper.fail() } else { try await fails(through: depth - 1) }
  }

  func calls(times: Int) async {
    await sleeper.wait()
    for _ in 0..<times { await call() }
  }

  private func call() async {}

  func returns(through depth: Int) async -> Int {
    if depth == 0 {
      await sleeper.wait()
      return 0
    }
    return await returns(through: depth - 1) + 1
  }
}
