import AppLifecycleTesting
import Dispatch
import PubSub
import Scheduling
import TestTraits
import Testing

@testable import AppLifecycle

/// Handlers that end after their budget, but before the application names the late code.
@MainActor @Suite(.timeLimit(.hang)) struct `A handler that ends late` {
  @Test func `is named beside one that still runs`() async throws {
    let system = SimulatedSystem()
    let clock = system.clock
    let subscriptions = [
      system.bus.receive(Application.DidEnterBackground.self, label: "saver") { _ in
        try await clock.sleep(for: .milliseconds(4_900))
        clock.passWithoutWaking(.milliseconds(200))
      },
      system.bus.receive(Application.DidEnterBackground.self, label: "sender") { _ in
        try await clock.sleep(for: .seconds(60))
      },
    ]
    try await system.play("launch; home")
    withExtendedLifetime(subscriptions) {}
    #expect(system.application.ledger.late.map(\.name).sorted() == ["saver", "sender"])
    #expect(system.application.ledger.overruns.map { $0.culprits.sorted() } == [["saver", "sender"]])
    #expect(
      system.record.filter { $0.kind == .report }.map(\.name).sorted() == ["watchdog:saver", "watchdog:sender"])
  }

  /// A clock of the system that a test sets forward.
  private final class SetClock: Clock, ClockWithHandle {
    typealias Instant = ManualClock.Instant

    private let system = ClockHandle(SuspendingClock())
    private let ahead = Guarded(Duration.zero)
    let minimumResolution: Swift.Duration = .nanoseconds(1)

    var handle: ClockHandle {
      ClockHandle(
        now: { self.system.now() + self.ahead.withLock { $0 } },
        sleepUntil: { _ in throw CancellationError() }, systemClock: system.systemClock)
    }
    var now: Instant { Instant().advanced(by: handle.now()) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws { throw CancellationError() }

    /// Sets the clock forward, and returns when the timers that are due by then have rung.
    func setForward(by duration: Duration, ringing deadlines: Deadlines) {
      ahead.withLock { $0 += duration }
      let signal = DispatchSemaphore(value: 0)
      _ = deadlines.set(handle.now()) { signal.signal() }
      // Sets the alarm anew, for now.
      _ = deadlines.set(.zero) {}
      signal.wait()
      // Tasks that the timers have started for the main actor begin in the pool.
      for _ in 0..<100 {
        Task.detached(priority: .high) { signal.signal() }
        signal.wait()
      }
    }
  }

  private final class Delegate: ApplicationDelegate {}

  /// The thread pool is asked in the middle of the budget, but the question waits for the main actor, too.
  @Test func `because it blocks the main actor is no sign of a busy thread pool`() async throws {
    let clock = SetClock()
    let application = Application(delegate: Delegate(), clock: clock)
    var blocking: Task<Void, Never>?
    try application.manage("feed", while: .foreground) {
    } release: {
      await blocking?.value
    }
    let subscription = application.bus.subscribe(to: Application.DidEnterBackground.self) { [application] _ in
      // Runs as soon as the transition waits.
      blocking = Task { for _ in 0..<2 { clock.setForward(by: .seconds(3), ringing: application.deadlines) } }
    }
    await application.handle(.launch)
    let report = await application.handle(.home)
    subscription.cancel()
    #expect(report.stragglers == ["feed"])
    #expect(report.overruns.map(\.threadShortage) == [nil])
  }
}
