/// The deadlines on one clock.
///
/// On a clock of the system they pass on the ``TimerThread``. On any other clock one task sleeps until the earliest of
/// them. There is no sleep for each deadline: a cancelled sleep may keep its memory until its time has come. A new
/// sleep begins only when a deadline is set that is earlier than all others, or when one has passed. On a simulated
/// clock no task sleeps for a cleared deadline, so that the clock does not advance for it.
package final class Deadlines: Sendable {
  /// The identifier of a deadline.
  package typealias ID = UInt64

  package let now: @Sendable () -> Duration
  /// The clock of the system; nil for any other clock.
  private let systemClock: TimerThread.SystemClock?
  private let sleepUntil: @Sendable (Duration) async throws -> Void
  private let tasks: TaskStarter
  private let sleepsOnlyForNeed: Bool
  private let state = Guarded(DeadlineSleep())

  /// Makes deadlines on a clock, from its present instant on.
  ///
  /// With `sleepsOnlyForNeed`, and always on a simulated clock, clearing a deadline also ends the sleep until it.
  convenience init(clock: any Clock<Duration>, tasks: TaskStarter, sleepsOnlyForNeed: Bool = false) {
    self.init(
      ClockHandle(clock), tasks: tasks, sleepsOnlyForNeed: sleepsOnlyForNeed || clock is any SimulatedClock)
  }

  /// Makes deadlines on a clock, as instants of its handle.
  package init(_ clock: ClockHandle, tasks: TaskStarter, sleepsOnlyForNeed: Bool) {
    (now, sleepUntil, systemClock) = (clock.now, clock.sleepUntil, clock.systemClock)
    self.tasks = tasks
    self.sleepsOnlyForNeed = sleepsOnlyForNeed
  }

  /// Whether the deadlines are real: on a clock of the system, and not on one of a simulation or a test.
  package var areReal: Bool { systemClock != nil }

  /// Calls `action` when the deadline has passed, on the timer thread or on the task that sleeps for the deadlines.
  ///
  /// - Complexity: logarithmic in the number of deadlines that are set.
  package func set(_ deadline: Duration, _ action: @escaping @Sendable () -> Void) -> ID {
    if let systemClock { return TimerThread.shared.set(deadline, on: systemClock, reading: now, action) }
    let (id, generation, sleeper) = state.withLock { state in
      let id = state.insert(deadline, action)
      return (id, state.sleepIfEarlier(), state.takeOutdatedSleeper())
    }
    change(from: sleeper, to: generation)
    return id
  }

  /// Clears a deadline; does nothing if it has passed.
  package func clear(_ id: ID) {
    if systemClock != nil { return TimerThread.shared.clear(id) }
    let (action, generation, sleeper) = state.withLock { state in
      let action = state.heap.remove(id)
      guard sleepsOnlyForNeed else { return (action, Int?.none, Task<Void, Never>?.none) }
      return (action, state.sleepAfresh(), state.takeOutdatedSleeper())
    }
    withExtendedLifetime(action) {}
    change(from: sleeper, to: generation)
  }

  /// Ends the sleep if no deadline is set; the user of this object calls this when it is released.
  package func rest() {
    let sleeper = state.withLock { state -> Task<Void, Never>? in
      guard state.heap.isEmpty else { return nil }
      _ = state.sleepAfresh()
      return state.takeOutdatedSleeper()
    }
    sleeper?.cancel()
  }

  private func change(from sleeper: Task<Void, Never>?, to generation: Int?) {
    sleeper?.cancel()
    guard let generation else { return }
    let task = tasks.start { await self.sleep(generation) }
    if !state.withLock({ $0.keep(task, generation) }) { task.cancel() }
  }

  private func sleep(_ generation: Int) async {
    while let deadline = state.withLock({ $0.earliest(for: generation) }) {
      guard (try? await sleepUntil(deadline)) != nil else { return state.withLock { $0.stop(generation) } }
      let time = now()
      for (_, action) in state.withLock({ $0.heap.takeDue(at: time) }) { action() }
    }
  }
}

/// The deadlines of a clock that is not the system's, and the task that sleeps for them; guarded by the lock of
/// ``Deadlines``.
private struct DeadlineSleep {
  typealias ID = Deadlines.ID

  var heap = DeadlineHeap<@Sendable () -> Void>()
  private var lastID: ID = 0
  private var sleepingUntil: Duration?
  private var sleeper: Task<Void, Never>?
  private var outdatedSleeper: Task<Void, Never>?
  /// The number of the present sleeper; a sleeper with another number ends.
  private var generation = 0

  mutating func insert(_ time: Duration, _ action: @escaping @Sendable () -> Void) -> ID {
    lastID += 1
    heap.insert(time, lastID, action)
    return lastID
  }

  /// Returns the generation for a new sleeper, if the earliest deadline is earlier than the one for which a task
  /// sleeps; else nil.
  mutating func sleepIfEarlier() -> Int? {
    guard let earliest = heap.earliest, sleepingUntil.map({ earliest < $0 }) ?? true else { return nil }
    return sleep(until: earliest)
  }

  /// Returns the generation for a new sleeper, if the earliest deadline is not the one for which a task sleeps; else
  /// nil.
  mutating func sleepAfresh() -> Int? {
    let earliest = heap.earliest
    guard earliest != sleepingUntil else { return nil }
    return sleep(until: earliest)
  }

  private mutating func sleep(until deadline: Duration?) -> Int? {
    generation += 1
    (outdatedSleeper, sleeper) = (sleeper, nil)
    sleepingUntil = deadline
    return deadline == nil ? nil : generation
  }

  /// Returns the sleeper that the caller must cancel, because another one replaces it or none is needed.
  mutating func takeOutdatedSleeper() -> Task<Void, Never>? {
    defer { outdatedSleeper = nil }
    return outdatedSleeper
  }

  /// Stores the sleeper's task; returns false if it is already outdated.
  mutating func keep(_ task: Task<Void, Never>, _ generation: Int) -> Bool {
    guard generation == self.generation else { return false }
    if sleepingUntil != nil { sleeper = task }
    return true
  }

  /// Returns the deadline until which a sleeper must sleep; nil if the sleeper must end.
  mutating func earliest(for generation: Int) -> Duration? {
    guard generation == self.generation else { return nil }
    sleepingUntil = heap.earliest
    if sleepingUntil == nil { sleeper = nil }
    return sleepingUntil
  }

  /// Forgets a sleeper whose clock threw an error.
  mutating func stop(_ generation: Int) {
    guard generation == self.generation else { return }
    (sleepingUntil, sleeper) = (nil, nil)
  }
}
