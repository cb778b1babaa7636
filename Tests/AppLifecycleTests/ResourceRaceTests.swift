import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

@testable import AppLifecycle

/// What happens to managed resources when something comes a moment too late.
@MainActor @Suite(.timeLimit(.hang)) struct `Managed resources in a race` {
  private struct Failure: Error {}

  /// A clock whose sleepers wake when the test says so, also those that were cancelled: on a real clock a task may be
  /// cancelled when its sleep has ended and it has not gone on yet.
  private final class LateClock: Clock {
    typealias Instant = ManualClock.Instant
    let (asleep, didFallAsleep) = AsyncStream.makeStream(of: UnsafeContinuation<Void, Never>.self)
    let now = Instant()
    let minimumResolution = Duration.nanoseconds(1)

    func sleep(until deadline: Instant, tolerance: Duration?) async {
      await withUnsafeContinuation { _ = didFallAsleep.yield($0) }
    }
  }

  @Test func `a retry that is called off as its time comes leaves the next acquire alone`() async throws {
    let clock = LateClock()
    let executor = SimulationExecutor()
    let (began, didBegin) = AsyncStream.makeStream(of: Int.self)
    let (cancelled, wasCancelled) = AsyncStream.makeStream(of: Int.self)
    var acquires = 0
    let manager = ResourceManager(
      of: ApplicationReference(), tasks: TaskStarter(executor: executor), clock: ClockHandle(clock),
      retry: RetryPolicy(), seed: 0)
    manager.add(
      ResourceOperations(
        name: "connection", holding: ResourceHolding(),
        acquire: {
          acquires += 1
          let number = acquires
          didBegin.yield(number)
          guard number > 1 else { throw Failure() }
          let (held, _) = AsyncStream.makeStream(of: Never.self)
          for await _ in held {}
          wasCancelled.yield(number)
          throw CancellationError()
        },
        release: { _ in {} }),
      while: .running, after: [])
    var begins = began.makeAsyncIterator()
    var ends = cancelled.makeAsyncIterator()
    var sleepers = clock.asleep.makeAsyncIterator()

    manager.setOpenPhases([.running])
    #expect(await begins.next() == 1)
    let retry = await sleepers.next()
    manager.setOpenPhases([])
    manager.setOpenPhases([.running])
    #expect(await begins.next() == 2)
    // Late: called off already.
    retry?.resume()
    await executor.settle()
    manager.setOpenPhases([])
    #expect(await ends.next() == 2, "the second acquire is cancelled")
  }

  @Test func `nothing is acquired for a process that has vanished`() async throws {
    let system = SimulatedSystem()
    var (acquires, now, most) = (0, 0, 0)
    try system.application.manage("connection", while: .foreground) {
      acquires += 1
      now += 1
      most = max(most, now)
      defer { now -= 1 }
      try? await system.clock.sleep(for: .seconds(1))
    } release: { _ in
    }
    system.application.send(.launch)
    system.application.send(.device(.crash))
    await system.clock.settle()
    #expect(acquires == 0)
    system.application.send(.launch)
    system.application.send(.device(.crash))
    system.application.send(.launch)
    try await system.clock.run(limit: .seconds(3))
    #expect(acquires == 1)
    #expect(most == 1, "never twice at once")
  }

  @Test func `a return hurries all of a tear-down, also what begins after it`() async throws {
    let system = SimulatedSystem()
    let clock = system.clock
    var ends: [String] = []
    let database = try system.application.manage("database", while: .foreground) {
    } release: { _ in
      try? await clock.sleep(for: .seconds(2))
      ends.append("database at \(clock.now.offset)")
    }
    try system.application.manage("query", while: .foreground, after: database) { _ in
    } release: { _ in
      try? await clock.sleep(for: .seconds(2))
      ends.append("query at \(clock.now.offset)")
    }
    try await system.play("launch")
    system.application.send(.home)
    try await clock.advance(by: .seconds(1))
    system.application.send(.open)
    await clock.settle()
    #expect(ends == ["query at 1.0 seconds", "database at 1.0 seconds"])
    #expect(system.application.state == .active)
    // The next tear-down has its time again.
    try await system.play("home")
    #expect(ends.suffix(2) == ["query at 3.0 seconds", "database at 5.0 seconds"])
  }

  @Test func `a dependency of an application that is gone is foreign, also at the same address`() async throws {
    // Most allocators give the next object of a size the place of the last one.
    for _ in 1...50 {
      let stale = try Application(delegate: Bare()).manage("database", while: .running) {
      } release: { _ in
      }
      let application = Application(delegate: Bare())
      #expect(throws: ResourceError.foreignDependency("database", of: "cache")) {
        try application.manage("cache", while: .running, after: stale) { _ in
        } release: { _ in
        }
      }
    }
  }

  @Test func `nothing follows an acquire whose end makes an observer drop the application`() async throws {
    let clock = ManualClock()
    let holder = Guarded<Application?>(Application(delegate: Bare(), clock: clock))
    var releases = 0
    try holder.withLock { $0 }?.manage("connection", while: .running) {
      try? await clock.sleep(for: .seconds(1))
    } release: { _ in
      releases += 1
    }
    let token = holder.withLock { $0 }?.observe { event in
      if case .callEnded(let entry, _) = event, entry.name == "connection" { _ = holder.withLock { $0.take() } }
    }
    weak let gone = holder.withLock { $0 }
    _ = await clock.running { await gone?.handle(.launch) }
    try await clock.run(limit: .seconds(10))
    #expect(gone == nil)
    #expect(releases == 0)
    withExtendedLifetime(token) {}
  }

  @Test func `an application that no code holds does not go on trying`() async throws {
    let clock = ManualClock()
    weak var gone: Application?
    try await { () async throws in
      let application = Application(delegate: Bare(), clock: clock)
      gone = application
      try application.manage("connection", while: .running) {
        throw Failure()
      } release: { (_: Void) in
      }
      _ = await clock.running { await application.handle(.launch) }
      #expect(clock.sleepers == 1)
    }()
    await clock.settle()
    #expect(gone == nil)
    #expect(clock.sleepers == 0)
  }
}

/// How `handle` tells a handler that its transition waits for from all other callers.
@MainActor @Suite(.timeLimit(.hang)) struct `Handling from inside a handler` {
  /// Hands over inputs, and keeps what became of them.
  @MainActor private final class Sender {
    let system = SimulatedSystem()
    private(set) var outcomes: [TransitionReport.Outcome] = []

    func handle(_ input: SystemInput, after delay: Duration = .zero) async {
      try? await system.clock.sleep(for: delay)
      outcomes.append(await system.application.handle(input).outcome)
    }

    /// In a task of the simulated world, which inherits what its maker was part of.
    func startHandling(_ input: SystemInput, after delay: Duration = .zero) {
      Task(executorPreference: system.clock.executor) { await self.handle(input, after: delay) }
    }
  }

  @Test func `what a handler has started waits for its inputs once the handler is over`() async throws {
    let sender = Sender()
    try sender.system.application.manage("listener", while: .running) {
      sender.startHandling(.memoryWarning, after: .seconds(1))
      await sender.handle(.memoryWarning)
    } release: { _ in
    }
    try await sender.system.play("launch; wait:2s")
    #expect(sender.outcomes == [.queued, .completed])
  }

  @Test func `what a handler waits for is part of it, also where it was refused its time`() async throws {
    let sender = Sender()
    let system = sender.system
    try system.application.manage("upload", while: .running) {
      try await system.clock.sleep(for: .seconds(26))
      await system.application.performBackgroundTask(named: "late") { await sender.handle(.terminate) }.value
    } release: { _ in
    }
    try await system.play("launch:background; task:begin:other; wait:26s; wait:1s")
    #expect(system.record.contains { $0.name == "refused:late" })
    #expect(sender.outcomes == [.queued])
    #expect(system.application.state == .notRunning && !system.record.contains { $0.kind == .report })
  }

  @Test func `a transition that a handler has asked for is not inside that handler`() async throws {
    let sender = Sender()
    let system = sender.system
    let warnings = system.bus.subscribe(to: Application.DidReceiveMemoryWarning.self) { _ in
      sender.startHandling(.significantTimeChange)
    }
    try system.application.manage("cache", while: .running) {
      try await system.clock.sleep(for: .seconds(1))
      system.application.send(.memoryWarning)
      try await system.clock.sleep(for: .seconds(1))
    } release: { _ in
    }
    try await system.play("launch; wait:3s")
    withExtendedLifetime(warnings) {}
    #expect(sender.outcomes == [.completed])
  }
}

@MainActor private final class Bare: ApplicationDelegate {}
