internal import CScheduling

/// The thread on which deadlines of the system's clocks pass, also while all threads of the global pool are busy.
///
/// A sleeping task would need a thread of the pool to wake up, and so would the runtime's timers.
package final class TimerThread: Sendable {
  package static let shared = TimerThread()

  package enum SystemClock: Int, Sendable {
    /// The clock that goes on while the machine sleeps.
    case continuous
    /// The clock that stands still while the machine sleeps.
    case suspending
  }

  private struct State: Sendable {
    /// The timers on each clock.
    var lists = [DeadlineList(), DeadlineList()]
    /// The deadline on each clock for which the thread waits.
    var awaited: [Duration?] = [nil, nil]
  }

  private let clocks = [ClockHandle(ContinuousClock()), ClockHandle(SuspendingClock())]
  private let state = Guarded(State())

  private init() {}

  /// Starts the thread if it does not run; returns whether it runs.
  ///
  /// A program that must end in order although no thread can be created any more starts it at its beginning. Each new
  /// timer tries again, also in a child that was forked without exec, which has no thread.
  @discardableResult package func start() -> Bool {
    state.withLock { _ in scheduling_timer_start { TimerThread.shared.run() } }
  }

  /// Calls `action`, which must not block, on the thread after a delay, never earlier; returns what clears the timer.
  package func set(
    after delay: Duration, on clock: SystemClock, _ action: @escaping @Sendable () -> Void
  ) -> @Sendable () -> Void {
    start()
    let clock = clock.rawValue
    let time = clocks[clock].now() + min(delay, .century)
    let (id, mustWake) = state.withLock { state in
      (state.lists[clock].insert(time, action), state.awaited[clock].map { time < $0 } ?? true)
    }
    if mustWake { scheduling_timer_wake() }
    return { [self] in
      // What the action has captured is released outside the lock.
      let action = state.withLock { $0.lists[clock].remove(id) }
      withExtendedLifetime(action) {}
    }
  }

  /// Looks at all timers again, because the machine has slept.
  package func machineHasSlept() { scheduling_timer_wake() }

  // MARK: The thread

  /// The longest wait for the continuous clock: the wait does not see that the machine sleeps.
  private static let longestWait = Duration.seconds(60)

  private func run() {
    while true {
      let (due, wait) = state.withLock { takeDue(&$0) }
      for action in due { action() }
      if due.isEmpty { scheduling_timer_wait(wait.nanoseconds + 1) }
    }
  }

  /// Takes the timers that go off, and computes the wait for the next one.
  private func takeDue(_ state: inout State) -> (due: [DeadlineList.Action], wait: Duration) {
    var due: [DeadlineList.Action] = []
    // Without a timer the thread still wakes once a day.
    var wait = Duration.seconds(86_400)
    for (clock, handle) in clocks.enumerated() {
      let now = handle.now()
      due += state.lists[clock].takeDue(at: now)
      state.awaited[clock] = state.lists[clock].earliest
      guard let next = state.awaited[clock] else { continue }
      wait = min(wait, next - now, handle.systemClock == .continuous ? Self.longestWait : wait)
    }
    return (due, wait)
  }
}
