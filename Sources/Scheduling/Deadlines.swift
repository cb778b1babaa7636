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

  private struct Alarm: Sendable {
    let time: Duration
    let number: Int
    /// Ends the alarm; nil until the alarm has been set.
    var cancel: (@Sendable () -> Void)?
  }

  private struct State: Sendable {
    var list = DeadlineList()
    var alarm: Alarm?
    /// Whether the latest alarm rang early, because the clock cannot sleep.
    var rangEarly = false
    private var lastNumber = 0

    /// Returns the alarm to end and the one to set, if the present one is not for the earliest deadline.
    mutating func changeAlarm() -> (old: Alarm?, new: Alarm?)? {
      guard list.earliest != alarm?.time else { return nil }
      lastNumber += 1
      let old = alarm
      alarm = list.earliest.map { Alarm(time: $0, number: lastNumber) }
      return (old, alarm)
    }
  }

  private let clock: ClockHandle
  private let tasks: TaskStarter
  private let state = Guarded(State())

  /// Makes deadlines on a clock, as instants of its handle.
  package init(_ clock: ClockHandle, tasks: TaskStarter) { (self.clock, self.tasks) = (clock, tasks) }

  deinit { state.withLock { $0.alarm }?.cancel?() }

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
    let (id, change) = state.withLock { state in (state.list.insert(deadline, action), state.changeAlarm()) }
    perform(change)
    return id
  }

  /// Clears a deadline; does nothing if it has passed.
  package func clear(_ id: ID) {
    let (action, change) = state.withLock { state in (state.list.remove(id), state.changeAlarm()) }
    withExtendedLifetime(action) {}
    perform(change)
  }

  private func perform(_ change: (old: Alarm?, new: Alarm?)?) {
    change?.old?.cancel?()
    guard let alarm = change?.new else { return }
    let cancel = start(alarm)
    let isOutdated = state.withLock { state in
      if state.alarm?.number == alarm.number { state.alarm?.cancel = cancel }
      return state.alarm?.number != alarm.number
    }
    if isOutdated { cancel() }
  }

  /// Starts an alarm, and returns what ends it.
  private func start(_ alarm: Alarm) -> @Sendable () -> Void {
    if let systemClock = clock.systemClock {
      return TimerThread.shared.set(after: alarm.time - now(), on: systemClock) { [weak self] in
        self.map { $0.ring(alarm, at: $0.now()) }
      }
    }
    let task = tasks.start { [weak self, clock] in
      // A clock that cannot sleep cannot tell either when the deadline passes. After `cancel`, too, the sleep throws; then
      // the number of the alarm no longer matches, and `ring` does nothing.
      let hasSlept = (try? await clock.sleepUntil(alarm.time)) != nil
      self?.ring(alarm, at: hasSlept ? clock.now() : alarm.time, isEarly: !hasSlept)
    }
    return { task.cancel() }
  }

  /// Calls the actions of the deadlines that are due, and sets the next alarm; nothing is due if the clock has stood
  /// still while the alarm's clock went on.
  private func ring(_ alarm: Alarm, at time: Duration, isEarly: Bool = false) {
    let due = state.withLock { state -> [@Sendable () -> Void] in
      guard state.alarm?.number == alarm.number else { return [] }
      state.rangEarly = isEarly
      return state.list.takeDue(at: time)
    }
    for action in due { action() }
    perform(
      state.withLock { state in
        guard state.alarm?.number == alarm.number else { return nil }
        // `changeAlarm` compares times only: it would keep the alarm that has rung, if the earliest deadline still has that time.
        state.alarm = nil
        return state.changeAlarm()
      })
  }
}
