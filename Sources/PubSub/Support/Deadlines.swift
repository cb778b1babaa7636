/// All deadlines on one clock: a heap, and one task that sleeps until the earliest.
///
/// Never one sleep a deadline: on a real clock a cancelled sleep keeps its memory until its time has come. Setting and clearing
/// is a matter of the heap; the clock is asked again only when an earlier deadline than any before is set, or one has passed.
/// On a simulated clock no task sleeps for a cleared deadline, so that no time passes for it.
package final class Deadlines: Sendable {
  /// Names a deadline that was set.
  package typealias ID = UInt64

  package let now: @Sendable () -> Duration
  private let sleepUntil: @Sendable (Duration) async throws -> Void
  private let tasks: TaskStarter
  private let sleepsOnlyForNeed: Bool
  private let state = Guarded(DeadlineHeap())

  /// Deadlines on a clock, from its present instant on.
  ///
  /// With `sleepsOnlyForNeed` the sleep is cut short when its deadline has been cleared; on a simulated clock it always is.
  init(clock: any Clock<Duration>, tasks: TaskStarter, sleepsOnlyForNeed: Bool = false) {
    let handle = ClockHandle(clock)
    (now, sleepUntil) = (handle.now, handle.sleepUntil)
    self.tasks = tasks
    self.sleepsOnlyForNeed = sleepsOnlyForNeed || clock is any SimulatedClock
  }

  /// Deadlines on a clock that has been opened.
  package init(
    now: @escaping @Sendable () -> Duration, sleepUntil: @escaping @Sendable (Duration) async throws -> Void,
    tasks: TaskStarter, sleepsOnlyForNeed: Bool
  ) {
    (self.now, self.sleepUntil, self.tasks, self.sleepsOnlyForNeed) = (now, sleepUntil, tasks, sleepsOnlyForNeed)
  }

  /// Calls `action` once the time has come, on a task of its own.
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

  /// Forgets a deadline; nothing happens if it has passed.
  package func clear(_ id: ID) {
    let (action, generation, sleeper) = state.withLock { state in
      let action = state.remove(id)
      guard sleepsOnlyForNeed else { return (action, Int?.none, Task<Void, Never>?.none) }
      return (action, state.sleepAfresh(), state.takeOutdatedSleeper())
    }
    withExtendedLifetime(action) {}
    change(from: sleeper, to: generation)
  }

  /// Ends the sleep if no deadline is set; called at the end of the user of this object.
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
  /// Those that have been cleared are missing here, and leave the heap later.
  private var actions: [ID: @Sendable () -> Void] = [:]
  private var lastID: ID = 0
  private var sleepingUntil: Duration?
  private var sleeper: Task<Void, Never>?
  private var outdatedSleeper: Task<Void, Never>?
  /// Counts the sleepers; an outdated one ends.
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

  /// Takes out what is due, in order.
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
  /// The generation of a new sleeper, if the earliest deadline lies before that for which one sleeps.
  mutating func sleepIfEarlier() -> Int? {
    guard let earliest, sleepingUntil.map({ earliest < $0 }) ?? true else { return nil }
    return sleep(until: earliest)
  }

  /// The generation of a new sleeper, if there is a deadline for which no task sleeps.
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

  /// The sleeper to cancel, as another one has its place or none is needed.
  mutating func takeOutdatedSleeper() -> Task<Void, Never>? {
    defer { outdatedSleeper = nil }
    return outdatedSleeper
  }

  /// Keeps the sleeper's task; false if it is outdated already.
  mutating func keep(_ task: Task<Void, Never>, _ generation: Int) -> Bool {
    guard generation == self.generation else { return false }
    if sleepingUntil != nil { sleeper = task }
    return true
  }

  /// Until when a sleeper is to sleep; nil if it is to end.
  mutating func earliest(for generation: Int) -> Duration? {
    guard generation == self.generation else { return nil }
    sleepingUntil = earliest
    if sleepingUntil == nil { sleeper = nil }
    return sleepingUntil
  }

  /// A sleeper's clock has let it down.
  mutating func stop(_ generation: Int) {
    guard generation == self.generation else { return }
    (sleepingUntil, sleeper) = (nil, nil)
  }
}
