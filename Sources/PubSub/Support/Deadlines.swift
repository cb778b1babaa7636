/// All deadlines on one clock: a heap, and one task that sleeps until the earliest deadline.
///
/// There is no sleep for each deadline: on a real clock a cancelled sleep keeps its memory until its time has come.
/// Setting and clearing a deadline changes the heap. A new sleep begins only when a deadline is set that is earlier
/// than all others, or when one has passed. On a simulated clock no task sleeps for a cleared deadline, so that the
/// clock does not advance for it.
package final class Deadlines: Sendable {
  /// The identifier of a deadline.
  package typealias ID = UInt64

  package let now: @Sendable () -> Duration
  private let sleepUntil: @Sendable (Duration) async throws -> Void
  private let tasks: TaskStarter
  private let sleepsOnlyForNeed: Bool
  private let state = Guarded(DeadlineHeap())

  /// Makes deadlines on a clock, from its present instant on.
  ///
  /// With `sleepsOnlyForNeed`, and always on a simulated clock, clearing a deadline also ends the sleep until it.
  init(clock: any Clock<Duration>, tasks: TaskStarter, sleepsOnlyForNeed: Bool = false) {
    let handle = ClockHandle(clock)
    (now, sleepUntil) = (handle.now, handle.sleepUntil)
    self.tasks = tasks
    self.sleepsOnlyForNeed = sleepsOnlyForNeed || clock is any SimulatedClock
  }

  /// Makes deadlines on a clock, from its two functions.
  package init(
    now: @escaping @Sendable () -> Duration, sleepUntil: @escaping @Sendable (Duration) async throws -> Void,
    tasks: TaskStarter, sleepsOnlyForNeed: Bool
  ) {
    (self.now, self.sleepUntil, self.tasks, self.sleepsOnlyForNeed) = (now, sleepUntil, tasks, sleepsOnlyForNeed)
  }

  /// Calls `action` at the deadline, on the task that sleeps for the deadlines.
  ///
  /// - Complexity: logarithmic in the number of deadlines that are set.
  package func set(_ deadline: Duration, _ action: @escaping @Sendable () -> Void) -> ID {
    let (id, generation, sleeper) = state.withLock { state in
      let id = state.insert(deadline, action)
      return (id, state.sleepIfEarlier(), state.takeOutdatedSleeper())
    }
    change(from: sleeper, to: generation)
    return id
  }

  /// Clears a deadline; does nothing if it has passed.
  package func clear(_ id: ID) {
    let (action, generation, sleeper) = state.withLock { state in
      let action = state.remove(id)
      guard sleepsOnlyForNeed else { return (action, Int?.none, Task<Void, Never>?.none) }
      return (action, state.sleepAfresh(), state.takeOutdatedSleeper())
    }
    withExtendedLifetime(action) {}
    change(from: sleeper, to: generation)
  }

  /// Ends the sleep if no deadline is set; the user of this object calls this when it is released.
  package func rest() {
    let sleeper = state.withLock { state -> Task<Void, Never>? in
      guard state.isEmpty else { return nil }
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
      for action in state.withLock({ $0.takeDue(at: time) }) { action() }
    }
  }
}

/// The deadlines of a clock, earliest first, and the task that sleeps for them; guarded by the lock of ``Deadlines``.
struct DeadlineHeap {
  typealias ID = Deadlines.ID

  private var heap: [(time: Duration, id: ID)] = []
  /// The actions of the deadlines.
  ///
  /// A cleared deadline has none; it is removed from the heap later.
  private var actions: [ID: @Sendable () -> Void] = [:]
  private var lastID: ID = 0
  private var sleepingUntil: Duration?
  private var sleeper: Task<Void, Never>?
  private var outdatedSleeper: Task<Void, Never>?
  /// The number of the present sleeper; a sleeper with another number ends.
  private var generation = 0

  var isEmpty: Bool { actions.isEmpty }

  mutating func insert(_ time: Duration, _ action: @escaping @Sendable () -> Void) -> ID {
    lastID += 1
    actions[lastID] = action
    heap.append((time, lastID))
    siftUp(heap.count - 1)
    return lastID
  }

  mutating func remove(_ id: ID) -> (@Sendable () -> Void)? {
    let action = actions.removeValue(forKey: id)
    if heap.count > 2 * actions.count + 32 {
      heap.removeAll { actions[$0.id] == nil }
      heap.sort(by: isOrdered)
    }
    return action
  }

  /// Removes the deadlines that are due, and returns their actions in order.
  mutating func takeDue(at now: Duration) -> [@Sendable () -> Void] {
    var due: [@Sendable () -> Void] = []
    while let first = heap.first, first.time <= now || actions[first.id] == nil {
      removeFirst()
      if let action = actions.removeValue(forKey: first.id) { due.append(action) }
    }
    return due
  }

  private var earliest: Duration? {
    mutating get {
      while let first = heap.first, actions[first.id] == nil { removeFirst() }
      return heap.first?.time
    }
  }

  private func isOrdered(_ one: (time: Duration, id: ID), _ other: (time: Duration, id: ID)) -> Bool {
    (one.time, one.id) < (other.time, other.id)
  }

  private mutating func siftUp(_ start: Int) {
    var index = start
    while index > 0, isOrdered(heap[index], heap[(index - 1) / 2]) {
      heap.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  private mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var index = 0
    while true {
      var first = index
      for child in 2 * index + 1...2 * index + 2 where child < heap.count && isOrdered(heap[child], heap[first]) {
        first = child
      }
      if first == index { return }
      heap.swapAt(index, first)
      index = first
    }
  }
}

// MARK: - The sleeping task

extension DeadlineHeap {
  /// Returns the generation for a new sleeper, if the earliest deadline is earlier than the one for which a task
  /// sleeps; else nil.
  mutating func sleepIfEarlier() -> Int? {
    guard let earliest, sleepingUntil.map({ earliest < $0 }) ?? true else { return nil }
    return sleep(until: earliest)
  }

  /// Returns the generation for a new sleeper, if the earliest deadline is not the one for which a task sleeps; else
  /// nil.
  mutating func sleepAfresh() -> Int? {
    let earliest = earliest
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
    sleepingUntil = earliest
    if sleepingUntil == nil { sleeper = nil }
    return sleepingUntil
  }

  /// Forgets a sleeper whose clock threw an error.
  mutating func stop(_ generation: Int) {
    guard generation == self.generation else { return }
    (sleepingUntil, sleeper) = (nil, nil)
  }
}
