internal import PubSub

/// Performs what the graph of managed resources decides.
@MainActor final class ResourceManager: OperationPerformer {
  /// A resource's own operations, its type forgotten.
  struct Operations {
    let name: String
    /// Where the handle is kept.
    let holding: ResourceHolding
    /// Acquires in the scope of a run, and returns the handle; throws what acquiring threw.
    let acquire: @MainActor (HandlerRun) async throws -> HeldHandle
    /// Releases the handle in the scope of a run.
    let release: @MainActor (HandlerRun, HeldHandle) async throws -> Void
  }

  /// What is known of a resource beside the graph.
  private struct Resource {
    let operations: Operations
    let phase: LifecyclePhase
    /// The latest error of acquire or release.
    var lastError: String?
    /// When its status last changed.
    var since: Duration
    /// How long it waits after its latest failure.
    var retryDelay: Duration?
    /// When its operation began; when that was decided, if it has not begun.
    var operationBegan = Duration.zero
    var operationHasBegun = false
    /// To which page its operation belongs.
    var page: LedgerKeeper.PageID?

    mutating func operationIsDecided(at time: Duration, on page: LedgerKeeper.PageID?) {
      (operationBegan, operationHasBegun) = (time, false)
      self.page = page
    }

    mutating func operationBegins(at time: Duration) { (operationBegan, operationHasBegun) = (time, true) }

    func entry(_ step: String, _ outcome: LedgerEntry.Outcome, at time: Duration) -> LedgerEntry {
      LedgerEntry(
        .resource, operations.name, step: step, began: operationBegan, duration: time - operationBegan,
        outcome: outcome)
    }
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
  /// Whether anything was being torn down that somebody may wait for.
  private var isAwaited = false
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
    queue = OperationQueue(tasks: tasks, performer: self)
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

  /// A transition begins: what it sets going can wait for ``performNow(orLater:)``.
  ///
  /// Not in a simulation, in which every operation has its turn in one order.
  func holdBack() { if tasks.executor == nil { queue?.holdBack() } }

  /// Performs what waits, in the caller's time as far as it does not suspend; or as soon as the main actor is free.
  func performNow(orLater: Bool = false) { if tasks.executor == nil { queue?.performNow(orLater: orLater) } }

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
    for resource in resources { resource.operations.holding.hold(nil) }
    perform([])
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
      note(index, blames && resource.operationHasBegun ? .overran : .cutShort, at: now, in: application)
    }
    return names
  }
}

// MARK: - Operations

extension ResourceManager {
  /// Sets going what the graph has decided, and tells of what has changed.
  private func perform(_ actions: [ResourceGraph.Action]) { perform(actions, at: nil, for: application) }

  private func perform(_ actions: [ResourceGraph.Action], at time: Duration?, for application: Application?) {
    let changes = graph.takeChanges()
    if !actions.isEmpty || !changes.isEmpty {
      let time = time ?? clock.now()
      let page = application?.ledgerKeeper.ownPage
      for action in actions { perform(action, at: time, on: page) }
      announce(changes, at: time, to: application)
    }
    // With the last operation the wait for a tear-down may be over.
    let awaits = graph.awaited > 0
    if isAwaited, !awaits { application?.tearDownDidProgress() }
    isAwaited = awaits
  }

  private func perform(_ action: ResourceGraph.Action, at time: Duration, on page: LedgerKeeper.PageID?) {
    switch action {
    case .acquire(let index), .release(let index):
      resources[index].operationIsDecided(at: time, on: page)
      queue?.add(index)
    case .retry(let index, let failures):
      let chance = Double.random(in: 0..<1, using: &random)
      let delay = retry.delay(afterFailures: failures, chance: chance)
      resources[index].retryDelay = delay
      let deadline = clock.instant(after: delay)
      let generation = generation
      retries[index] = tasks.startOnMainActor { await self.waitToRetry(index, until: deadline, generation) }
    case .cancelAcquire(let index): queue?.cancel(index)
    case .cancelRetry(let index): retries.removeValue(forKey: index)?.cancel()
    }
  }

  func performOperation(_ index: Int) async {
    switch graph.status(of: index) {
    // One that is not wanted any more has nothing to acquire.
    case .acquiring where graph.isAcquireCancelled(index): didEnd(.failedToAcquire(index), generation)
    case .acquiring:
      let run = begin(index)
      do {
        let handle = try await resources[index].operations.acquire(run)
        didAcquire(index, handle, run)
      } catch {
        didFailToAcquire(index, error, run)
      }
    case .releasing:
      if isHurried { withUnsafeCurrentTask { $0?.cancel() } }
      let run = begin(index)
      do {
        let operations = resources[index].operations
        if let handle = operations.holding.take() { try await operations.release(run, handle) }
        didRelease(index, nil, run)
      } catch {
        didRelease(index, error, run)
      }
    case .idle, .waiting, .held, .retrying: break
    }
    serveHoldWaiters()
  }

  private func begin(_ index: Int) -> HandlerRun {
    resources[index].operationBegins(at: clock.now())
    return HandlerRun(of: scope, generation: generation)
  }

  private func didAcquire(_ index: Int, _ handle: HeldHandle, _ run: HandlerRun) {
    run.isOver = true
    guard run.generation == generation else { return }
    resources[index].operations.holding.hold(handle)
    didEnd(.acquired(index), generation, .completed)
  }

  private func didFailToAcquire(_ index: Int, _ error: any Error, _ run: HandlerRun) {
    run.isOver = true
    guard run.generation == generation else { return }
    let isCancelled = graph.isAcquireCancelled(index)
    let text = String(describing: error)
    if !isCancelled { resources[index].lastError = text }
    didEnd(.failedToAcquire(index), generation, isCancelled ? .cancelled : .failed(text))
  }

  private func didRelease(_ index: Int, _ error: (any Error)?, _ run: HandlerRun) {
    run.isOver = true
    guard run.generation == generation else { return }
    var outcome = LedgerEntry.Outcome.completed
    if let error {
      // It has ended all the same: what it held is gone, and it is acquired anew.
      let text = String(describing: error)
      resources[index].lastError = text
      outcome = isHurried && error is CancellationError ? .cancelled : .failed(text)
    }
    didEnd(.released(index), generation, outcome)
  }

  private func waitToRetry(_ index: Int, until deadline: Duration, _ generation: Int) async {
    // It may have been called off after the sleep had ended; what runs for the resource now is another task.
    guard (try? await clock.sleepUntil(deadline)) != nil, !Task.isCancelled else { return }
    guard generation == self.generation else { return }
    retries[index] = nil
    didEnd(.retryIsDue(index), generation)
  }

  private func didEnd(_ event: ResourceGraph.Event, _ generation: Int, _ outcome: LedgerEntry.Outcome? = nil) {
    guard generation == self.generation else { return }
    let time = clock.now()
    let application = application
    // One that was late has been noted.
    if let outcome, !graph.isLate(event.index) { note(event.index, outcome, at: time, in: application) }
    perform(graph.handle(event), at: time, for: application)
  }

  private func note(
    _ index: Int, _ outcome: LedgerEntry.Outcome, at time: Duration, in application: Application?
  ) {
    guard let application else { return }
    let isAcquired = graph.status(of: index) == .acquiring
    application.note(
      resources[index].entry(isAcquired ? "acquire" : "release", outcome, at: time), on: resources[index].page,
      isTearDown: !graph.isWanted(index))
  }
}

// MARK: - Health

extension ResourceManager {
  var health: [ResourceHealth] { resources.indices.map(health) }

  private func health(of index: Int) -> ResourceHealth {
    let resource = resources[index]
    let status = status(of: index)
    let isRetrying = if case .retrying = status { true } else { false }
    return ResourceHealth(
      name: resource.operations.name, phase: resource.phase, status: status, failures: graph.failures(of: index),
      lastError: resource.lastError, since: resource.since, retryDelay: isRetrying ? resource.retryDelay : nil)
  }

  private func status(of index: Int) -> ResourceStatus {
    guard let missing = graph.missingDependency(of: index) else { return graph.status(of: index) }
    return .waiting(for: resources[missing].operations.name)
  }

  private func announce(_ changes: [Int], at time: Duration, to application: Application?) {
    for index in changes {
      resources[index].since = time
      resources[index].operations.holding.setStatus(status(of: index))
    }
    guard let application, application.bus.isHeard(Application.ResourceDidChange.self) else { return }
    for index in changes { application.resourceDidChange(health(of: index)) }
  }

  /// A resource was asked for after its release.
  func wasUsedAfterRelease(_ index: Int) {
    let name = resources[index].operations.name
    application?.resourceWasUsedAfterRelease(health(of: index))
    application?.note(
      LedgerEntry(.resource, name, step: "use", began: clock.now(), duration: .zero, outcome: .usedAfterRelease))
  }
}
