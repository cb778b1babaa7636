internal import PubSub

/// Performs what the graph of managed resources decides: one task for each acquire, release and retry.
@MainActor final class ResourceManager {
  /// A resource's own operations, its type forgotten.
  struct Operations {
    let name: String
    /// Acquires, and returns what keeps the handle; throws what acquiring threw.
    let acquire: @MainActor () async throws -> @MainActor () -> Void
    /// Takes the handle away and releases it.
    let release: @MainActor () async throws -> Void
    /// The process vanished: the handle goes without a release.
    let lose: @MainActor () -> Void
    let statusDidChange: @MainActor (ResourceStatus) -> Void
  }

  private let tasks: TaskStarter
  private let clock: TransitionClock
  private let retry: RetryPolicy
  private var random: SplitMix64
  private var graph = ResourceGraph()
  private var operations: [Operations] = []
  private var indices: [String: Int] = [:]
  /// The task that acquires, releases or waits to try again, of each resource that has one.
  private var running: [Int: Task<Void, Never>] = [:]
  /// Grows when the process vanishes: what belonged to it must not be heard of any more.
  private var generation = 0
  /// The application comes back: all of the present tear-down is to be quick, also what has not begun yet.
  private var isHurried = false
  /// Called once nothing is being torn down any more.
  var whenTornDown: (@MainActor () -> Void)?
  /// Who waits for all that is wanted to be held.
  private var holdWaiters: [UnsafeContinuation<Void, Never>] = []

  init(tasks: TaskStarter, clock: TransitionClock, retry: RetryPolicy, seed: UInt64?) {
    self.tasks = tasks
    self.clock = clock
    self.retry = retry
    random = SplitMix64(seed: seed ?? UInt64.random(in: .min ... .max))
  }

  var openPhases: Set<LifecyclePhase> { graph.openPhases }
  var isTornDown: Bool { graph.tearingDown == 0 }
  var namesBeingTornDown: [String] { graph.indicesBeingTornDown.map { operations[$0].name } }

  func index(named name: String) -> Int? { indices[name] }

  /// The index that the next resource will have.
  var nextIndex: Int { operations.count }

  func add(_ operations: Operations, while phase: LifecyclePhase, after dependencies: [Int]) {
    self.operations.append(operations)
    let (index, actions) = graph.add(while: phase, after: dependencies)
    indices[operations.name] = index
    perform(actions)
  }

  func setOpenPhases(_ phases: Set<LifecyclePhase>) {
    if phases != openPhases { isHurried = false }
    perform(graph.setOpenPhases(phases))
  }

  /// Hurries what is being torn down, as the application comes back; it is still awaited.
  func cancelTearDown() {
    isHurried = true
    for index in graph.indicesBeingTornDown { running[index]?.cancel() }
  }

  /// Returns once nothing is wanted that is not held.
  func untilHeld() async {
    guard !graph.holdsAllWanted else { return }
    await withUnsafeContinuation { holdWaiters.append($0) }
  }

  private func serveHoldWaiters() {
    guard !holdWaiters.isEmpty, graph.holdsAllWanted else { return }
    let waiters = holdWaiters
    holdWaiters = []
    for waiter in waiters { waiter.resume() }
  }

  func loseProcess() {
    generation += 1
    for task in running.values { task.cancel() }
    running = [:]
    isHurried = false
    graph.loseEverything()
    for operation in operations {
      operation.lose()
      operation.statusDidChange(.idle)
    }
    serveHoldWaiters()
  }

  private func perform(_ actions: [ResourceGraph.Action]) {
    for action in actions {
      switch action {
      case .acquire(let index): start(index) { await self.acquire(index, $0) }
      case .release(let index):
        start(index) { await self.release(index, $0) }
        if isHurried { running[index]?.cancel() }
      case .retry(let index, let failures):
        let chance = Double.random(in: 0..<1, using: &random)
        let deadline = clock.now() + retry.delay(afterFailures: failures, chance: chance)
        start(index) { await self.waitToRetry(index, until: deadline, $0) }
      case .cancelAcquire(let index): running[index]?.cancel()
      case .cancelRetry(let index): running.removeValue(forKey: index)?.cancel()
      }
    }
    for action in actions { operations[action.index].statusDidChange(graph.status(of: action.index)) }
    if graph.tearingDown == 0, let whenTornDown {
      self.whenTornDown = nil
      whenTornDown()
    }
    serveHoldWaiters()
  }

  private func start(_ index: Int, _ operation: @escaping @Sendable (HandlerRun) async -> Void) {
    let run = HandlerRun(of: self, generation: generation)
    running[index] = tasks.start { await HandlerScope.$run.withValue(run) { await operation(run) } }
  }

  private func acquire(_ index: Int, _ run: HandlerRun) async {
    guard run.generation == generation else { return }
    defer { run.isOver = true }
    do {
      let keep = try await operations[index].acquire()
      guard run.generation == generation else { return }
      keep()
      didEnd(index, run) { $0.didAcquire(index) }
    } catch {
      didEnd(index, run) { $0.didFailToAcquire(index) }
    }
  }

  private func release(_ index: Int, _ run: HandlerRun) async {
    guard run.generation == generation else { return }
    defer { run.isOver = true }
    // A release that throws has ended all the same: what it held is gone, and it is acquired anew.
    try? await operations[index].release()
    didEnd(index, run) { $0.didRelease(index) }
  }

  private func waitToRetry(_ index: Int, until deadline: Duration, _ run: HandlerRun) async {
    // It may have been called off after the sleep had ended; what runs for the resource now is another task.
    guard (try? await clock.sleepUntil(deadline)) != nil, !Task.isCancelled else { return }
    didEnd(index, run) { $0.retryIsDue(index) }
  }

  private func didEnd(_ index: Int, _ run: HandlerRun, _ input: (inout ResourceGraph) -> [ResourceGraph.Action]) {
    guard run.generation == generation else { return }
    running[index] = nil
    let actions = input(&graph)
    operations[index].statusDidChange(graph.status(of: index))
    perform(actions)
  }
}

extension ResourceGraph.Action {
  fileprivate var index: Int {
    switch self {
    case .acquire(let index), .cancelAcquire(let index), .release(let index), .retry(let index, _),
      .cancelRetry(let index):
      index
    }
  }
}
