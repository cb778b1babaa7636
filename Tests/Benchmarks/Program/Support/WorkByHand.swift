import BenchmarkHarness

/// What a program would do without a life cycle to come and go: lists of handlers whose times it notes, and resources that
/// it acquires and releases, one awaited after the other or side by side.
final class WorkByHand: @unchecked Sendable {
  /// What a handler is called with.
  private struct Step {
    let number: Int
  }

  private typealias Handler = @MainActor (Step) -> Void
  private typealias Operation = @MainActor @Sendable () async throws -> Void

  // Touched on the main actor alone, which is the benchmark's thread.
  private let bank: CounterBank
  /// Those of each of the four steps of a cycle.
  private let handlers: [[Handler]]
  private var acquires: [Operation] = []
  private var releases: [Operation] = []
  private var acquired = 0
  private var durations: [Duration] = []
  private let clock = SuspendingClock()
  private let operationsHaveTasks: Bool

  /// - Parameters:
  ///   - subscribers: how many handlers each of the four steps of a cycle has.
  ///   - resources: how many resources are released on the way home and acquired on the way back.
  ///   - operationsHaveTasks: whether the operations run side by side, a task for each; else each is awaited in its turn.
  init(subscribers: Int, resources: Int, operationsHaveTasks: Bool) {
    self.operationsHaveTasks = operationsHaveTasks
    let bank = CounterBank(subscribers)
    self.bank = bank
    handlers = (0..<4).map { _ in bank.counters.map { counter in { _ in counter.total += 1 } } }
    for _ in 0..<resources {
      acquires.append { self.acquired += 1 }
      releases.append { self.acquired -= 1 }
    }
  }

  /// Goes home and comes back so often; every handler must have been called, and every resource be held again.
  func cycle(_ times: Int) throws -> Duration {
    let before = bank.total
    let elapsed = try MainActorWork.time { [self] in
      try await perform(acquires)
      acquired = acquires.count
      for _ in 0..<times {
        durations.removeAll(keepingCapacity: true)
        call(0)
        call(1)
        try await perform(releases)
        guard acquired == 0 else { throw WorkNotDone("\(acquired) resources are held in the background") }
        call(2)
        call(3)
        try await perform(acquires)
        guard acquired == acquires.count else { throw WorkNotDone("\(acquired) resources are held") }
      }
    }
    try WorkNotDone.check(bank.total - before, expected: 4 * times * bank.counters.count, "home and back by hand")
    return elapsed
  }

  @MainActor private func call(_ number: Int) {
    let step = Step(number: number)
    var began = clock.now
    for handler in handlers[number] {
      handler(step)
      let ended = clock.now
      durations.append(began.duration(to: ended))
      began = ended
    }
  }

  @MainActor private func perform(_ operations: [Operation]) async throws {
    guard operationsHaveTasks else {
      for operation in operations { try await operation() }
      return
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for operation in operations { group.addTask { try await operation() } }
      for try await _ in group {}
    }
  }
}
