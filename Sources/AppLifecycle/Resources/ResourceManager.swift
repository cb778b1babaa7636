internal import PubSub

/// Performs what the graph of managed resources decides.
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

  /// What is known of a resource beside the graph.
  private struct Resource {
    let operations: Operations
    let phase: LifecyclePhase
    /// The latest error of acquire or release.
    var lastError: String?
    /// When its status last changed.
    var since: Duration
    /// When its operation began; when that was decided, if it has not begun.
    var operationBegan = Duration.zero
    var operationHasBegun = false
    /// To which page its operation belongs.
    var page: LedgerKeeper.PageID?
  }

  private let tasks: TaskStarter
  private let clock: TransitionClock
  private let retry: RetryPolicy
  private let scope: HandlerScopeOwner
  private var random: SplitMix64
  private var graph = ResourceGraph()
  private var resources: [Resource] = []
  private var indices: [String: Int] = [:]
  private var queue: OperationQueue?
  /// The tasks that wait to try again.
  private var retries: [Int: Task<Void, Never>] = [:]
  /// Grows when the process vanishes: what belonged to it must not be heard of any more.
  private var generation = 0
  /// The application comes back: all of the present tear-down is to be quick, also what has not begun yet.
  private var isHurried = false
  /// Told what changes, and what took how long.
  weak var application: Application?
  /// Who waits for all that is wanted to be held.
  private var holdWaiters: [UnsafeContinuation<Void, Never>] = []

  init(
    tasks: TaskStarter, clock: TransitionClock, retry: RetryPolicy, seed: UInt64?,
    scope: HandlerScopeOwner = HandlerScopeOwner()
  ) {
    self.tasks = tasks
    self.clock = clock
    self.retry = retry
    self.scope = scope
    random = SplitMix64(seed: seed ?? UInt64.random(in: .min ... .max))
    // Weak, as the tasks of the queue keep it while they work, and it is this that keeps the queue.
    queue = OperationQueue(tasks: tasks) { [weak self] index in await self?.performOperation(of: index) }
  }

  /// Whether nothing is being torn down that somebody might wait for.
  var isTornDown: Bool { graph.awaited == 0 }
  var namesBeingTornDown: [String] { graph.indicesBeingTornDown.map { resources[$0].operations.name } }

  func index(named name: String) -> Int? { indices[name] }

  /// The index that the next resource will have.
  var nextIndex: Int { resources.count }

  func add(_ operations: Operations, while phase: LifecyclePhase, after dependencies: [Int]) {
    resources.append(Resource(operations: operations, phase: phase, since: clock.now()))
    let (index, actions) = graph.add(while: phase, after: dependencies)
    indices[operations.name] = index
    perform(actions)
  }

  func setOpenPhases(_ phases: PhaseSet, lingering: PhaseSet = []) {
    if !phases.subtracting(graph.openPhases).isEmpty { isHurried = false }
    perform(graph.setOpenPhases(phases, lingering: lingering))
  }

  /// Hurries what is being torn down, as the application comes back; it is still awaited.
  func cancelTearDown() {
    isHurried = true
    for index in graph.indicesBeingTornDown { queue?.cancel(index) }
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
    queue?.removeAll()
    for index in retries.keys.sorted() { retries[index]?.cancel() }
    retries = [:]
    isHurried = false
    graph.loseEverything()
    for resource in resources { resource.operations.lose() }
    announceChanges()
    serveHoldWaiters()
  }

  /// Names whose operations a tear-down would still wait for, with how long they have taken; they are waited for no longer.
  ///
  /// - Parameter blames: whether they are to blame; not if somebody else has used up their time.
  /// - Returns: those whose operation has begun, and those that were not let begin.
  func nameLate(blames: Bool) -> (begun: [String], notBegun: [String]) {
    let now = clock.now()
    var names: (begun: [String], notBegun: [String]) = ([], [])
    for index in graph.markLate() {
      let resource = resources[index]
      if resource.operationHasBegun {
        names.begun.append(resource.operations.name)
      } else {
        names.notBegun.append(resource.operations.name)
      }
      note(index, blames && resource.operationHasBegun ? .overran : .cutShort, at: now)
    }
    return names
  }
}

// MARK: - Operations

extension ResourceManager {
  private func perform(_ actions: [ResourceGraph.Action]) {
    for action in actions {
      switch action {
      case .acquire(let index), .release(let index):
        resources[index].operationBegan = clock.now()
        resources[index].operationHasBegun = false
        resources[index].page = application?.ledgerKeeper.ownPage
        queue?.add(index)
      case .retry(let index, let failures):
        let chance = Double.random(in: 0..<1, using: &random)
        let deadline = clock.now() + retry.delay(afterFailures: failures, chance: chance)
        let generation = generation
        retries[index] = tasks.start { await self.waitToRetry(index, until: deadline, generation) }
      case .cancelAcquire(let index): queue?.cancel(index)
      case .cancelRetry(let index): retries.removeValue(forKey: index)?.cancel()
      }
    }
    announceChanges()
    if graph.awaited == 0 { application?.tearDownDidProgress() }
  }

  private func performOperation(of index: Int) async {
    switch graph.status(of: index) {
    case .acquiring: await perform(index, acquire)
    case .releasing:
      if isHurried { queue?.cancel(index) }
      await perform(index, release)
    case .idle, .waiting, .held, .retrying: break
    }
    serveHoldWaiters()
  }

  private func perform(_ index: Int, _ operation: @MainActor (Int, HandlerRun) async -> Void) async {
    // One that is not wanted any more has nothing to acquire.
    if graph.isAcquireCancelled(index) { return didEnd(index, generation) { $0.didFailToAcquire(index) } }
    resources[index].operationBegan = clock.now()
    resources[index].operationHasBegun = true
    let run = HandlerRun(of: scope, generation: generation)
    await HandlerScope.$run.withValue(run) { await operation(index, run) }
  }

  private func acquire(_ index: Int, _ run: HandlerRun) async {
    defer { run.isOver = true }
    do {
      let keep = try await resources[index].operations.acquire()
      guard run.generation == generation else { return }
      keep()
      didEnd(index, run.generation, .completed) { $0.didAcquire(index) }
    } catch {
      guard run.generation == generation else { return }
      let isCancelled = graph.isAcquireCancelled(index)
      if !isCancelled { resources[index].lastError = String(describing: error) }
      didEnd(index, run.generation, isCancelled ? .cancelled : .failed(String(describing: error))) {
        $0.didFailToAcquire(index)
      }
    }
  }

  private func release(_ index: Int, _ run: HandlerRun) async {
    defer { run.isOver = true }
    var outcome = LedgerEntry.Outcome.completed
    do {
      try await resources[index].operations.release()
    } catch {
      // It has ended all the same: what it held is gone, and it is acquired anew.
      guard run.generation == generation else { return }
      resources[index].lastError = String(describing: error)
      outcome = isHurried && error is CancellationError ? .cancelled : .failed(String(describing: error))
    }
    didEnd(index, run.generation, outcome) { $0.didRelease(index) }
  }

  private func waitToRetry(_ index: Int, until deadline: Duration, _ generation: Int) async {
    // It may have been called off after the sleep had ended; what runs for the resource now is another task.
    guard (try? await clock.sleepUntil(deadline)) != nil, !Task.isCancelled else { return }
    guard generation == self.generation else { return }
    retries[index] = nil
    didEnd(index, generation) { $0.retryIsDue(index) }
  }

  private func didEnd(
    _ index: Int, _ generation: Int, _ outcome: LedgerEntry.Outcome? = nil,
    _ input: (inout ResourceGraph) -> [ResourceGraph.Action]
  ) {
    guard generation == self.generation else { return }
    // One that was late has been noted.
    if let outcome, !graph.isLate(index) { note(index, outcome, at: clock.now()) }
    perform(input(&graph))
  }

  private func note(_ index: Int, _ outcome: LedgerEntry.Outcome, at time: Duration) {
    guard let application else { return }
    let resource = resources[index]
    let step = graph.status(of: index) == .acquiring ? "acquire" : "release"
    application.note(
      LedgerEntry(
        .resource, resource.operations.name, step: step, began: resource.operationBegan,
        duration: time - resource.operationBegan, outcome: outcome),
      on: resource.page, isTearDown: !graph.openPhases.contains(resource.phase))
  }
}

// MARK: - Health

extension ResourceManager {
  var health: [ResourceHealth] { resources.indices.map(health) }

  private func health(of index: Int) -> ResourceHealth {
    let resource = resources[index]
    return ResourceHealth(
      name: resource.operations.name, phase: resource.phase, status: status(of: index),
      failures: graph.failures(of: index), lastError: resource.lastError, since: resource.since)
  }

  private func status(of index: Int) -> ResourceStatus {
    guard let missing = graph.missingDependency(of: index) else { return graph.status(of: index) }
    return .waiting(for: resources[missing].operations.name)
  }

  private func announceChanges() {
    let changes = graph.takeChanges()
    guard !changes.isEmpty else { return }
    let now = clock.now()
    for index in changes {
      resources[index].since = now
      resources[index].operations.statusDidChange(status(of: index))
      application?.resourceDidChange(health(of: index))
    }
  }

  /// A resource was asked for after its release.
  func wasUsedAfterRelease(_ index: Int) {
    let name = resources[index].operations.name
    application?.resourceWasUsedAfterRelease(health(of: index))
    application?.note(
      LedgerEntry(.resource, name, step: "use", began: clock.now(), duration: .zero, outcome: .usedAfterRelease))
  }
}
