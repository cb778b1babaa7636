import AppLifecycle
import Dispatch
import Scheduling
import TestTraits
import Testing

@testable import AppLifecycleTesting

/// Which tasks belong to a simulation because a job of it has started them, and not because it has woken them.
@Suite(.timeLimit(.hang)) @MainActor struct `A task that a simulation wakes` {
  /// A task that waits, and then says whether it belongs to a simulation.
  private final class Sleeper: Sendable {
    private let continuation = Guarded<UnsafeContinuation<Void, Never>?>(nil)
    private let isAsleep = DispatchSemaphore(value: 0)

    nonisolated func belongsToSimulation() async -> Bool {
      await withUnsafeContinuation { continuation in
        self.continuation.withLock { $0 = continuation }
        isAsleep.signal()
      }
      return Membership.current != nil
    }

    /// Waits, without a suspension of the present task, until the task sleeps.
    nonisolated func waitUntilAsleep() {
      isAsleep.wait()
      // A job of the task has ended when the task is suspended.
      let isOver = DispatchSemaphore(value: 0)
      OutsideWork.whenPresentJobsAreOver { isOver.signal() }
      isOver.wait()
    }

    nonisolated func wake() {
      let waiting = continuation.withLock { continuation in
        defer { continuation = nil }
        return continuation
      }
      waiting?.resume()
    }
  }

  @Test func `does not belong to it if it has started elsewhere, after the simulation`() async throws {
    let (system, sleeper) = (SimulatedSystem(), Sleeper())
    // The turn is scheduled now, and begins when the test waits for the task.
    let job = system.application.task {
      sleeper.waitUntilAsleep()
      sleeper.wake()
    }
    let other = Task.detached { await sleeper.belongsToSimulation() }
    try await job.value
    #expect(await !other.value)
  }

  @Test func `does not belong to it if its external work has started it`() async throws {
    let (system, sleeper) = (SimulatedSystem(), Sleeper())
    let application = system.application
    let other = Guarded<Task<Bool, Never>?>(nil)
    application.task {
      await application.external {
        other.withLock { $0 = Task.detached { await sleeper.belongsToSimulation() } }
        sleeper.waitUntilAsleep()
      }
    }
    // The next job of the same turn.
    application.task { sleeper.wake() }
    await system.clock.settle()
    #expect(await other.withLock { $0 }?.value == false)
  }

  @Test func `does not belong to it if its external work has started it on the main actor`() async throws {
    let system = SimulatedSystem()
    let application = system.application
    let other = Guarded<Task<Bool, Never>?>(nil)
    application.task {
      await application.external { other.withLock { $0 = Task { @MainActor in Membership.current != nil } } }
    }
    await system.clock.settle()
    #expect(await other.withLock { $0 }?.value == false)
  }

  @Test func `stays in it if external work wakes it in the turn in which it has begun`() async throws {
    let system = SimulatedSystem()
    let application = system.application
    let waiting = Guarded<[UnsafeContinuation<Void, Never>]>([])
    let isInTurn = Guarded<[Bool]>([])
    // One that prefers the simulation's executor, and one that prefers none.
    let wait: @MainActor @Sendable () async -> Void = {
      await withUnsafeContinuation { continuation in waiting.withLock { $0.append(continuation) } }
      isInTurn.withLock { $0.append(SimulationExecutor.visitOfThread === system.clock.executor) }
    }
    // One that prefers the simulation's executor, and one that prefers none.
    application.task { application.task { await wait() } }
    application.task { Task { await wait() } }
    application.task {
      while waiting.withLock({ $0.count }) < 2 { await Task.yield() }
      await application.external { for waiter in waiting.withLock({ $0 }) { waiter.resume() } }
    }
    await system.clock.settle()
    #expect(isInTurn.withLock { $0 } == [true, true])
  }

  @MainActor private final class Waker: ApplicationDelegate {
    init(_ sleeper: Sleeper) { sleeper.wake() }
  }

  @Test func `does not belong to it if a delegate that is made wakes it`() async throws {
    let sleeper = Sleeper()
    let other = Task.detached { await sleeper.belongsToSimulation() }
    sleeper.waitUntilAsleep()
    let system = SimulatedSystem { Waker(sleeper) }
    #expect(await !other.value)
    withExtendedLifetime(system) {}
  }

  @Test func `belongs to it if it has started it`() async throws {
    let (system, sleeper) = (SimulatedSystem(), Sleeper())
    let inner = Guarded<Task<Bool, Never>?>(nil)
    system.application.task {
      inner.withLock { $0 = Task.detached { await sleeper.belongsToSimulation() } }
    }
    system.application.task {
      await Task.yield()
      sleeper.wake()
    }
    await system.clock.settle()
    #expect(await inner.withLock { $0 }?.value == true)
  }
}
