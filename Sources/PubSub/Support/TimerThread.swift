internal import CPubSub

/// The thread on which deadlines of the system's clocks pass.
///
/// A sleeping task would need a thread of the global pool to wake up, and the runtime's timers need one, too. On this
/// thread deadlines pass also while all threads of the pool are busy.
package final class TimerThread: Sendable {
  /// The thread of the process.
  package static let shared = TimerThread()

  /// A clock of the system.
  package enum SystemClock: Int, Sendable {
    /// The clock that goes on while the machine sleeps.
    case continuous
    /// The clock that stands still while the machine sleeps.
    case suspending
  }

  private struct Timer: Sendable {
    let deadline: Duration
    let now: @Sendable () -> Duration
    let action: @Sendable () -> Void
  }

  private struct State: Sendable {
    var heaps: [DeadlineHeap<Timer>] = [DeadlineHeap(), DeadlineHeap()]
    /// The deadline on each clock for which the thread waits.
    var awaited: [Duration?] = [nil, nil]
    var lastID: Deadlines.ID = 0
    var isStarted = false
  }

  private let clocks = [ClockHandle(ContinuousClock()), ClockHandle(SuspendingClock())]
  private let state = Guarded(State())

  private init() {}

  /// Starts the thread if it does not run.
  ///
  /// A program that must end in order although no thread can be created any more starts it at its beginning.
  ///
  /// - Returns: whether the thread runs; false if the system cannot create it. Each new deadline tries again.
  @discardableResult package func start() -> Bool {
    state.withLock { state in
      if !state.isStarted { state.isStarted = pubsub_timer_start { TimerThread.shared.run() } }
      return state.isStarted
    }
  }

  /// Calls `action` on the thread when a deadline has passed.
  ///
  /// - Parameters:
  ///   - deadline: the deadline, as a reading of `now`.
  ///   - clock: the clock with which `now` goes; `now` may also stand still at times.
  ///   - now: reads the time.
  ///   - action: must not block, as other deadlines wait for its return.
  /// - Returns: the identifier with which to clear the deadline.
  /// - Complexity: logarithmic in the number of deadlines that are set.
  func set(
    _ deadline: Duration, on clock: SystemClock, reading now: @escaping @Sendable () -> Duration,
    _ action: @escaping @Sendable () -> Void
  ) -> Deadlines.ID {
    start()
    let time = clocks[clock.rawValue].now() + (deadline - now())
    let (id, mustWake) = state.withLock { state in
      state.lastID += 1
      state.heaps[clock.rawValue].insert(
        time, state.lastID, Timer(deadline: deadline, now: now, action: action))
      return (state.lastID, state.awaited[clock.rawValue].map { time < $0 } ?? true)
    }
    if mustWake { pubsub_timer_wake() }
    return id
  }

  /// Clears a deadline; does nothing if it has passed.
  func clear(_ id: Deadlines.ID) {
    // What the action has captured is released outside the lock.
    let former = state.withLock { state in state.heaps.indices.compactMap { state.heaps[$0].remove(id) } }
    withExtendedLifetime(former) {}
  }

  /// Looks at all deadlines again, because the machine has slept.
  package func machineHasSlept() { if state.withLock({ $0.isStarted }) { pubsub_timer_wake() } }

  // MARK: The thread

  /// The longest wait, as the wait does not see that the machine sleeps, and that the continuous clock goes on.
  private static let longestWait = Duration.seconds(60)

  private func run() {
    while true {
      let (due, wait) = state.withLock { takeDue(&$0) }
      for timer in due { timer.action() }
      if due.isEmpty { pubsub_timer_wait(wait.map { Int64(clamping: $0.nanoseconds) } ?? -1) }
    }
  }

  /// Takes the timers whose deadline has passed, and computes the wait for the next one.
  private func takeDue(_ state: inout State) -> (due: [Timer], wait: Duration?) {
    var due: [Timer] = []
    var wait: Duration?
    for clock in clocks.indices {
      let now = clocks[clock].now()
      for (id, timer) in state.heaps[clock].takeDue(at: now) {
        let left = timer.deadline - timer.now()
        if left > .zero { state.heaps[clock].insert(now + left, id, timer) } else { due.append(timer) }
      }
      let next = state.heaps[clock].earliest
      state.awaited[clock] = next
      guard let next else { continue }
      let left = clock == SystemClock.continuous.rawValue ? min(next - now, Self.longestWait) : next - now
      wait = min(wait ?? left, left)
    }
    return (due, wait.map { max(.zero, $0) })
  }
}

extension Duration {
  /// The whole nanoseconds, rounded up.
  fileprivate var nanoseconds: Int128 { (attoseconds + 999_999_999) / 1_000_000_000 }
}
