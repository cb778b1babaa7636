internal import PubSub

/// Performs what the graph of managed resources decides.
@MainActor final class ResourceManager: OperationPerformer {
  let tasks: TaskStarter
  let clock: ClockHandle
  let retry: RetryPolicy
  let scope: WorkOwner
  var random: SplitMix64
  // Both are touched many times in each operation, by nothing that these accesses call: a check of each would cost a twentieth.
  @exclusivity(unchecked) var graph = ResourceGraph()
  /// By their index in the graph; nil where an index is free.
  @exclusivity(unchecked) var resources: [Resource?] = []
  private var indices: [String: Int] = [:]
  var queue: OperationQueue?
  /// The tasks that wait to try again.
  var retries: [Int: Task<Void, Never>] = [:]
  /// Grows when the process vanishes: what belonged to it must have no effect any more.
  var generation = 0
  /// How often the process has been suspended or resumed: a health check that was under way then is not late.
  var suspensions = 0
  /// The application comes back: all of the present tear-down is to be quick, also what has not begun yet.
  var isHurried = false
  /// Whether a tear-down waited for an operation when this was last looked at.
  private var wasAwaited = false
  /// Is told what changes, and what took how long.
  weak var application: Application?
  /// The timers on the application's clock.
  var deadlines: Deadlines?
  /// Wait until everything that is wanted is held.
  private var holdWaiters: [UnsafeContinuation<Void, Never>] = []

  init(
    tasks: TaskStarter, clock: ClockHandle, retry: RetryPolicy, seed: UInt64?,
    scope: WorkOwner = WorkOwner()
  ) {
    self.tasks = tasks
    self.clock = clock
    self.retry = retry
    self.scope = scope
    random = SplitMix64(seed: seed ?? UInt64.random(in: .min ... .max))
    queue = OperationQueue(tasks: tasks, performer: self)
  }

  // MARK: Adding and removing

  /// The index that the next resource will have.
  var nextIndex: Int { graph.nextIndex }

  /// The index of the managed resource that has the name; bodies have none.
  func index(named name: String) -> Int? { indices[name] }

  /// Whether the resource with this handle is the one at the index, and is managed still.
  func manages(_ holding: ResourceHolding, at index: Int) -> Bool {
    index < resources.count && resources[index]?.operations.holding === holding && !graph.isRemoved(index)
  }

  @discardableResult
  func add(_ operations: ResourceOperations, while phase: LifecyclePhase, after dependencies: [Int]) -> Int {
    let new = Resource(operations: operations, phase: phase, since: clock.now())
    let index = graph.nextIndex
    if index == resources.count { resources.append(new) } else { resources[index] = new }
    let isBody = operations.body != nil
    let (_, actions) = graph.add(
      while: phase, after: dependencies, maximumRetries: isBody ? nil : (operations.retry ?? retry).maximumRetries,
      isBody: isBody)
    if !isBody {
      indices[operations.name] = index
      application?.resourcesDidChange()
    }
    perform(actions)
    return index
  }

  /// Releases a resource for good; its name is free at once.
  func remove(_ index: Int) {
    guard let resource = resources[index] else { return }
    let isBody = resource.operations.body != nil
    // Also a body that was only asked to end.
    if isBody { resource.lease?.cancel() } else { indices[resource.operations.name] = nil }
    perform(graph.remove(index))
    if !isBody { application?.resourcesDidChange() }
  }

  /// The names of the managed resources and bodies that depend on one; bodies that are over are removed first.
  func namesOfDependents(of index: Int) -> [String] {
    for dependent in graph.managedDependents(of: index) where resources[dependent]?.operations.isOver?() ?? false {
      remove(dependent)
    }
    return graph.managedDependents(of: index).compactMap { resources[$0]?.operations.name }
  }

  // MARK: Phases

  func setOpenPhases(_ phases: PhaseSet, lingering: PhaseSet = [], ending: PhaseSet = []) {
    let opened = phases.subtracting(graph.openPhases)
    if !opened.isEmpty {
      // What is being released is to be acquired again: the release is cut short, and awaited all the same.
      for index in graph.releases(wantedIn: opened) {
        resources[index]?.isCutShort = true
        cancelOperation(index)
      }
      isHurried = false
    }
    perform(graph.setOpenPhases(phases, lingering: lingering, ending: ending))
  }

  /// Whether a body of the phase that was asked to end, and has not been named as late, still runs.
  func isEndingBodies(of phase: LifecyclePhase) -> Bool { graph.isEndingBodies(of: phase) }

  /// A transition begins: what it sets going can wait for ``performNow(orLater:)``.
  ///
  /// Not in a simulation, in which every operation has its turn in one order.
  func holdBack() { if tasks.executor == nil { queue?.holdBack() } }

  /// Performs what waits, in the caller's time as far as it does not suspend; or as soon as the main actor is free.
  func performNow(orLater: Bool = false) { if tasks.executor == nil { queue?.performNow(orLater: orLater) } }

  /// Whether no operation of a tear-down is waited for.
  var isTornDown: Bool { graph.awaited == 0 }

  /// Hurries what is being torn down, as the application comes back; it is still awaited.
  func cancelTearDown() {
    isHurried = true
    for index in graph.indicesBeingTornDown { cancelOperation(index) }
  }

  func cancelOperation(_ index: Int) {
    queue?.cancel(index)
    resources[index]?.lease?.cancel()
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
    for index in resources.indices {
      guard let resource = resources[index] else { continue }
      clearTimer(of: index)
      if let lease = resource.lease {
        clearCheckDeadline(lease)
        lease.abandon()
      }
      resources[index]?.lease = nil
      resource.operations.holding.hold(nil)
    }
    perform(graph.forgetRemoved())
  }

  // MARK: Performing

  /// Sets going what the graph has decided, and posts what has changed.
  func perform(_ actions: [ResourceGraph.Action]) { perform(actions, at: nil, for: application) }

  func perform(_ actions: [ResourceGraph.Action], at time: Duration?, for application: Application?) {
    let changes = graph.takeChanges()
    if !actions.isEmpty || !changes.isEmpty {
      let time = time ?? clock.now()
      let page = application?.ownLedger.ownPage
      for action in actions { perform(action, at: time, on: page) }
      announce(changes, at: time, to: application)
      // A forgotten one has nothing to announce any more.
      for case .forget(let index) in actions { forget(index) }
    }
    // With the last operation the wait for a tear-down may be over.
    let awaits = graph.awaited > 0
    if wasAwaited, !awaits { application?.tearDown.didProgress() }
    wasAwaited = awaits
    serveHoldWaiters()
  }

  private func perform(_ action: ResourceGraph.Action, at time: Duration, on page: LedgerKeeper.PageID?) {
    switch action {
    case .acquire(let index), .release(let index):
      resources[index]?.operationIsDecided(at: time, on: page)
      queue?.add(index)
    case .retry(let index, let failures):
      let delay = delay(of: index, afterFailures: failures)
      resources[index]?.retryDelay = delay
      let deadline = clock.instant(after: delay)
      let generation = generation
      retries[index] = tasks.startOnMainActor { await self.waitToRetry(index, until: deadline, generation) }
    case .cancelAcquire(let index):
      queue?.cancel(index)
      // Those that it depends on stay held until it has ended: one that does not heed its cancellation is to be named.
      setDeadline(of: index)
    case .cancelRetry(let index): retries.removeValue(forKey: index)?.cancel()
    case .forget: break
    }
  }

  private func forget(_ index: Int) {
    let operations = resources[index]?.operations
    resources[index] = nil
    graph.recycle(index)
    operations?.whenForgotten?()
  }

  /// The wait after so many failures in a row, by the resource's own policy.
  func delay(of index: Int, afterFailures failures: Int) -> Duration {
    let chance = Double.random(in: 0..<1, using: &random)
    return (resources[index]?.operations.retry ?? retry).delay(afterFailures: failures, chance: chance)
  }

  private func waitToRetry(_ index: Int, until deadline: Duration, _ generation: Int) async {
    // It may have been called off after the sleep had ended; what runs for the resource now is another task.
    guard (try? await clock.sleepUntil(deadline)) != nil, !Task.isCancelled else { return }
    guard generation == self.generation else { return }
    retries[index] = nil
    didEnd(.retryIsDue(index), generation)
  }

  /// Tries again at once what waits to be tried again, or was given up.
  func retryNow(_ index: Int) { perform(graph.retryNow(index)) }

  func didEnd(
    _ event: ResourceGraph.Event, _ generation: Int, _ outcome: LedgerEntry.Outcome? = nil, at time: Duration? = nil
  ) {
    guard generation == self.generation else { return }
    let time = time ?? clock.now()
    let application = application
    // One that was late has been noted.
    if let outcome, !graph.isLate(event.index) { note(event.index, outcome, at: time, in: application) }
    let endsBody = resources[event.index]?.operations.body != nil && graph.isBeingTornDown(event.index)
    perform(graph.handle(event), at: time, for: application)
    if endsBody { application?.tearDown.bodiesDidEnd() }
  }

  func note(
    _ index: Int, _ outcome: LedgerEntry.Outcome, at time: Duration, in application: Application?
  ) {
    guard let application, let resource = resources[index] else { return }
    guard let step = stepInLedger(index) else { return }
    application.note(
      resource.entry(step, outcome, at: time), of: resource.call, on: resource.page, isTearDown: !graph.isWanted(index))
  }

  /// What the ledger calls the operation that is under way; nil for one that is not in it.
  ///
  /// A body is no resource: what it takes is its end, if it ran until then.
  private func stepInLedger(_ index: Int) -> String? {
    guard let resource = resources[index] else { return nil }
    let isAcquired = graph.status(of: index) == .acquiring
    if resource.operations.body != nil, isAcquired || !resource.endsLoop { return nil }
    return isAcquired ? "acquire" : "release"
  }

  /// Calls the observers: an operation has begun.
  func callBegins(_ index: Int) {
    guard let application, !application.observers.isEmpty, let resource = resources[index],
      let step = stepInLedger(index)
    else { return }
    // Observers may read the resources, so they are called before `resources` is changed.
    let entry = resource.entry(step, .completed, at: resource.operationBegan)
    guard let call = application.callBegins(entry) else { return }
    resources[index]?.call = call
    // The observers' time is not counted as the operation's.
    resources[index]?.operationBegins(at: clock.now())
  }
}
