/// The deadlines on one clock.
///
/// One alarm is set, for the earliest of them: on a clock of the system a timer of the ``TimerThread``, on any other
/// clock a task that sleeps. Without a deadline there is none, so that a simulated clock does not advance for one that
/// was cleared.
package final class Deadlines: Sendable {
  /// The identifier of a deadline: its time, and a number that no other deadline of the same list has.
  package struct ID: Sendable, Equatable {
    let time: Duration
    let number: UInt64

    static func < (one: ID, other: ID) -> Bool { (one.time, one.number) < (other.time, other.number) }
  }

  private struct State: Sendable {
    var list = DeadlineList()
    /// The time for which the alarm is set; nil without one, and after one has rung, until another is set.
    var alarm: Duration?
    /// The number of the latest alarm; one with an earlier number that rings is ignored.
    var lastNumber = 0
    /// Ends the alarm; nil until it has been set.
    var cancel: (@Sendable () -> Void)?
    /// Whether the latest alarm rang early, because the clock cannot sleep.
    var rangEarly = false
  }

  private let clock: ClockHandle
  private let tasks: TaskStarter
  private let state = Guarded(State())

  /// Makes deadlines on a clock, as instants of its handle.
  package init(_ clock: ClockHandle, tasks: TaskStarter) { (self.clock, self.tasks) = (clock, tasks) }

  deinit { state.withLock { $0.cancel }?() }

  package var now: @Sendable () -> Duration { clock.now }

  /// Whether the deadlines are real: on a clock of the system, and not on one of a simulation or a test.
  package var areReal: Bool { clock.systemClock != nil }

  /// Whether the latest deadlines passed early, because the clock's `sleep` threw.
  ///
  /// An action that sets its deadline again reads it: the next one would pass at once, too, and so on without end.
  package var haveRungEarly: Bool { state.withLock { $0.rangEarly } }

  package func instant(after delay: Duration) -> Duration { clock.instant(after: delay) }

  /// Calls `action`, which must not block, when the deadline has passed, on the timer thread or on the task that
  /// sleeps; at once if the clock's `sleep` throws.
  ///
  /// - Complexity: logarithmic in the number of deadlines that are set, and linear in the number of later ones.
  package func set(_ deadline: Duration, _ action: @escaping @Sendable () -> Void) -> ID {
    let id = state.withLock { $0.list.insert(deadline, action) }
    changeAlarm()
    return id
  }

  /// Clears a deadline; does nothing if it has passed.
  package func clear(_ id: ID) {
    let action = state.withLock { $0.list.remove(id) }
    withExtendedLifetime(action) {}
    changeAlarm()
  }

  /// Ends the present alarm and sets another one, if it is not for the earliest deadline.
  private func changeAlarm() {
    let change = state.withLock { state -> (cancel: (@Sendable () -> Void)?, time: Duration?, number: Int)? in
      guard state.list.earliest != state.alarm else { return nil }
      state.alarm = state.list.earliest
      state.lastNumber += 1
      return (state.cancel.take(), state.alarm, state.lastNumber)
    }
    change?.cancel?()
    guard let number = change?.number, let time = change?.time else { return }
    let cancel = startAlarm(number, at: time)
    let isOutdated = state.withLock { state in
      // Without an alarm, this one has rung already.
      if state.lastNumber == number, state.alarm != nil { state.cancel = cancel }
      return state.lastNumber != number
    }
    if isOutdated { cancel() }
  }

  /// Starts an alarm, and returns what ends it.
  private func startAlarm(_ number: Int, at time: Duration) -> @Sendable () -> Void {
    if let systemClock = clock.systemClock {
      return TimerThread.shared.set(after: time - now(), on: systemClock) { [weak self] in
        self.map { $0.ring(number, at: $0.now()) }
      }
    }
    let task = tasks.start { [weak self, clock] in
      // A clock that cannot sleep cannot tell either when the deadline passes. After `cancel`, too, the sleep throws; then
      // another alarm is the latest, and `ring` does nothing.
      let hasSlept = (try? await clock.sleepUntil(time)) != nil
      self?.ring(number, at: hasSlept ? clock.now() : time, isEarly: !hasSlept)
    }
    return { task.cancel() }
  }

  /// Calls the actions of the deadlines that are due, and sets the next alarm; nothing is due if the clock has stood
  /// still while the alarm's clock went on.
  private func ring(_ number: Int, at time: Duration, isEarly: Bool = false) {
    let due = state.withLock { state -> [@Sendable () -> Void]? in
      guard state.lastNumber == number else { return nil }
      (state.alarm, state.cancel, state.rangEarly) = (nil, nil, isEarly)
      return state.list.takeDue(at: time)
    }
    guard let due else { return }
    for action in due { action() }
    changeAlarm()
  }
}
