import AppLifecycleTesting
import PubSub
import Testing

@testable import AppLifecycle

/// What happens to managed resources when something comes a moment too late.
@MainActor @Suite(.timeLimit(.minutes(1))) struct `Managed resources in a race` {
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
      tasks: TaskStarter(executor: executor), clock: TransitionClock(clock), retry: RetryPolicy(), seed: 0)
    manager.add(
      ResourceManager.Operations(
        name: "connection",
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
        release: {}, lose: {}, statusDidChange: { _ in }),
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
    system.application.send(.crash)
    await system.clock.settle()
    #expect(acquires == 0)
    system.application.send(.launch)
    system.application.send(.crash)
    system.application.send(.launch)
    await system.clock.run(limit: .seconds(3))
    #expect(acquires == 1)
    #expect(most == 1, "never twice at once")
  }
}
