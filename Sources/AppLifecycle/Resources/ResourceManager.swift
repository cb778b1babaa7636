internal import PubSub
internal import Scheduling

/// Performs the actions of the graph of managed resources.
@MainActor final class ResourceManager: OperationPerformer {
  let tasks: TaskStarter
  /// The application's clock.
  let clock: ClockHandle
  /// The clock of deadlines and limits, which stands still while the process does.
  let running: ClockHandle
  let retry: RetryPolicy
  let scope: WorkScope
  var random: SplitMix64
  // Each operation accesses both many times, and no access calls code that accesses them again. The exclusivity checks
  // would cost 5 percent.
  @exclusivity(unchecked) var graph = ResourceGraph()
  /// The resources by their index in the graph; nil at a free index.
  @exclusivity(unchecked) var resources: [Resource?] = []
  private var indices: [String: Int] = [:]
  /// The number of additions until the next look for bodies that are over.
  private var additionsUntilLook = 16
  var queue: OperationQueue?
  /// The tasks that wait for the next attempt of a resource.
  var retries: [Int: Task<Void, Never>] = [:]
  /// A number that grows when the process vanishes, so that code of an earlier process has no effect.
  var generation = 0
  /// Whether the launch of the present process is complete, so that the phases have opened that it opens.
  private var hasLaunched = false
  /// The number of times that the process was suspended or resumed; a health check that ran at such a time is not late.
  var suspensions = 0
  /// Whether the application returns to the foreground, so that all operations of the tear-down are hurried, also later
  /// ones.
  var isHurried = false
  /// Whether any resource was given up, or depends on one that was.
  private var knowsFailures = false
  /// Whether a tear-down waited for an operation after the latest actions.
  private var wasAwaited = false
  /// The application, which is notified of changes and of the durations of operations.
  var application: Application? { reference.application }
  private let reference: ApplicationReference
  /// Its parts; nil as soon as its deinitializer runs.
  @exclusivity(unchecked) var parts: ApplicationParts?
  /// The timers on the application's clock.
  var deadlines: Deadlines?
  // Each operation looks whether there are any.
  /// The callers that wait until every needed resource is held.
  @exclusivity(unchecked) private var holdWaiters: [OneShot<[ResourceHealth]>] = []

  init(
    of reference: ApplicationReference, tasks: TaskStarter, clock: ClockHandle, running: ClockHandle? = nil,
    retry: RetryPolicy, seed: UInt64?, scope: WorkScope = WorkScope()
  ) {
    self.reference = reference
    self.tasks = tasks
    (self.clock, self.running) = (clock, running ?? clock)
    self.retry = retry
    self.scope = scope
    random = SplitMix64(seed: seed ?? UInt64.random(in: .min ... .max))
    queue = OperationQueue(tasks: tasks, performer: self)
  }

  // MARK: Adding and removing

  /// The index that the next resource will have.
  var nextIndex: Int { graph.nextIndex }

  /// Returns the index of the managed resource with a name; bodies have no name here.
  func index(named name: String) -> Int? { indices[name] }

  /// Whether the resource at an index is the one with this holding, and is still managed.
  func manages(_ holding: ResourceHolding, at index: Int) -> Bool {
    index < resources.count && resources[index]?.holding === holding && !graph.isRemoved(index)
  }

  @discardableResult
  func add(_ operations: ResourceOperations, while phase: LifecyclePhase, after dependencies: [Int]) -> Int {
    let new = Resource(
      operations: operations, phase: phase, since: clock.now(),
      isOfProcess: application?.present.state.isInMemory == true || application?.isMakingDelegate == true
        || dependencies.contains { resources[$0]?.isOfProcess == true })
    let index = graph.nextIndex
    if index == resources.count { resources.append(new) } else { resources[index] = new }
    operations.holding.leaseDidChange = { [tasks, weak self] holding, lease in
      tasks.startOnMainActor { [weak self] in
        guard let self, manages(holding, at: index) else { return }
        didInvalidate(index, lease: lease)
        didDeclareReady(index, lease: lease)
      }
    }
    let isBody = operations.body != nil
    let (_, actions) = graph.add(
      while: phase, after: dependencies,
      maximumRetries: isBody ? nil : (operations.habits.retry ?? retry).maximumRetries,
      isBody: isBody, awaitsReadiness: operations.awaitsReadiness, owesRun: operations.isOwedRun != nil)
    if !isBody {
      indices[operations.name] = index
      application?.resourcesDidChange()
    }
    perform(actions)
    // A body that cannot have its first run while its phase closes does not keep its owner.
    if hasLaunched, graph.status(of: index) == .idle, !isOpen(phase) { operations.becameIdle?() }
    additionsUntilLook -= 1
    if additionsUntilLook == 0 { removeBodiesThatAreOver() }
    return index
  }

  /// Removes the bodies whose owners went after their last run had ended, which nothing else notices while their phase is open.
  private func removeBodiesThatAreOver() {
    additionsUntilLook = max(graph.order.count, 16)
    for index in graph.order where !graph.isRemoved(index) {
      // One after another: a removal may run the program's code, which may remove and add others.
      guard let resource = resources[index], resource.isBody, resource.lease?.isRunning != true else { continue }
      if resource.operations.isOver?() == true { remove(index) }
    }
  }

  /// Releases a resource for good, and frees its name at once.
  func remove(_ index: Int) {
    guard let resource = resources[index] else { return }
    // This also cancels a body that was only asked to end.
    if resource.isBody { resource.lease?.cancel() } else { indices[resource.operations.name] = nil }
    // Now: an operation that is under way may ignore its cancellation, and never end.
    resource.holding.forget()
    perform(graph.remove(index))
    if !resource.isBody { application?.resourcesDidChange() }
  }

  /// Returns the names of the managed resources and bodies that depend on a resource, after removing bodies that are
  /// over.
  func namesOfDependents(of index: Int) -> [String] {
    for dependent in graph.managedDependents(of: index) where resources[dependent]?.operations.isOver?() ?? false {
      remove(dependent)
    }
    return graph.managedDependents(of: index).compactMap { resources[$0]?.operations.name }
  }

  // MARK: Phases

  /// Whether a phase is open, so that its resources are needed.
  func isOpen(_ phase: LifecyclePhase) -> Bool { graph.openPhases.contains(phase) }

  /// Whether a body that is added now keeps its owner until it begins: its phase is open or closing, or the launch that
  /// opens it is not complete.
  func keepsOwner(of phase: LifecyclePhase) -> Bool { isOpen(phase) || graph.mayRunOnce(in: phase) || !hasLaunched }

  /// Whether a body that is added now has its run although its phase closes: the phase is the whole life of the process, which
  /// does not open again, and the dependencies are held.
  func owesRun(while phase: LifecyclePhase, after dependencies: [Int]) -> Bool {
    // A body that such a run adds would have the next one, and so on until the budget has passed.
    if let run = AwaitedRun.bound, run.isUnderWay, run.isAskedAtOnce { return false }
    return phase == .running && (isOpen(phase) || graph.mayRunOnce(in: phase))
      && dependencies.allSatisfy {
        graph.phase(of: $0) == .running && graph.status(of: $0) == .held && graph.isReady($0)
      }
  }

  /// Drops the owners whose bodies have not begun in the process that has ended.
  func processEnded() {
    hasLaunched = false
    for operations in resources.compactMap({ $0?.operations }) { operations.becameIdle?() }
  }

  func setOpenPhases(_ phases: PhaseSet, lingering: PhaseSet = [], ending: PhaseSet = []) {
    if phases.contains(.running) { hasLaunched = true }
    let opened = phases.subtracting(graph.openPhases)
    let closed = graph.openPhases.subtracting(phases)
    if !opened.isEmpty {
      // Cut short a release after which the resource is acquired again; the next acquire still waits for it.
      for index in graph.releases(wantedIn: opened) {
        resources[index]?.isCutShort = true
        cancelOperation(index)
      }
      isHurried = false
    }
    perform(graph.setOpenPhases(phases, lingering: lingering, ending: ending))
    guard !closed.isEmpty else { return }
    // A body that waited for the narrower phase of a dependency was idle before.
    var idle: [ResourceOperations] = []
    for index in resources.indices where graph.status(of: index) == .idle {
      guard let resource = resources[index], resource.isBody, closed.contains(resource.phase) else { continue }
      idle.append(resource.operations)
    }
    for operations in idle { operations.becameIdle?() }
  }

  /// Whether a body of the phase that was asked to end still runs, and has not been reported as late.
  func isEndingBodies(of phase: LifecyclePhase) -> Bool { graph.isEndingBodies(of: phase) }

  /// Holds operations back from now on until ``performNow(orLater:)``, because a transition begins.
  ///
  /// A simulation does not hold operations back, so that their order is always the same.
  func holdBack() { if tasks.executor == nil { queue?.holdBack() } }

  /// Performs the queued operations: inline until one suspends, the others as soon as the main actor is free.
  func performNow(orLater: Bool = false) { if tasks.executor == nil { queue?.performNow(orLater: orLater) } }

  /// Whether a tear-down waits for no operation.
  var isTornDown: Bool { graph.awaited == 0 }

  /// Hurries the operations of the tear-down, because the application returns to the foreground; it still waits for
  /// them.
  func cancelTearDown() {
    isHurried = true
    for index in graph.indicesBeingTornDown { cancelOperation(index) }
  }

  func cancelOperation(_ index: Int) {
    queue?.cancel(index)
    resources[index]?.lease?.cancel()
  }

  /// Waits until every needed resource is held, one is given up, or the task is cancelled.
  ///
  /// - Returns: the resources that were given up.
  func untilHeld() async -> [ResourceHealth] {
    let wait = OneShot<[ResourceHealth]>()
    let failed = await tasks.waitOnMainActor {
      // Here and not before: with an executor preference each hop of a task may give other jobs of the main actor a turn.
      if let failed = outcomeOfWait { return failed }
      holdWaiters.append(wait)
      return await withTaskCancellationHandler {
        await wait.value
      } onCancel: {
        wait.settle([])
      }
    }
    holdWaiters.removeAll { $0 === wait }
    return failed
  }

  private func serveHoldWaiters() {
    guard !holdWaiters.isEmpty, let failed = outcomeOfWait else { return }
    let waiters = holdWaiters
    holdWaiters = []
    for waiter in waiters { waiter.settle(failed) }
  }

  /// The resources that were given up, or none if all needed ones are held; nil while neither is the case.
  private var outcomeOfWait: [ResourceHealth]? {
    if graph.holdsAllWanted { return [] }
    let failed = graph.order.compactMap { index in
      isGivenUp(index) ? resources[index].map { health(of: index, $0) } : nil
    }
    return failed.isEmpty ? nil : failed
  }

  /// Whether a resource has failed for good, and no code has asked for another attempt.
  private func isGivenUp(_ index: Int) -> Bool {
    graph.hasFailed(index) && resources[index]?.givenUp?.error != nil
  }

  /// Ends the waits for resources that were given up, and for those that depend on them.
  ///
  /// - Parameter changes: the resources whose status has changed.
  /// - Complexity: linear in the number of neighbors; linear in that of all resources if one of them was given up.
  private func updateFailures(after changes: [Int]) {
    func mayMatter(_ index: Int) -> Bool {
      graph.hasFailed(index) || resources[index]?.givenUp != nil
        || graph.nodes[index].dependencies.contains { resources[$0]?.givenUp != nil }
    }
    guard knowsFailures || graph.hasAnyFailed(changes), changes.contains(where: mayMatter) else { return }
    var isAnyLeft = false
    // Dependencies come before their dependents.
    for index in graph.order {
      guard let resource = resources[index] else { continue }
      let holding = resource.holding
      var failure = graph.nodes[index].dependencies.lazy.compactMap { self.resources[$0]?.givenUp }.first
      if graph.hasFailed(index) {
        let isKnown = resource.givenUp?.holding === holding
        failure =
          isKnown
          ? resource.givenUp
          : GivenUp(holding, .givenUp(resource.operations.name, because: resource.lastError ?? "no reason"))
        if !isKnown, resource.endedProcess != generation,
          case .shutDown(let status) = policy(of: resource).whenExhausted
        {
          shutDown(status, after: resource)
        }
      }
      isAnyLeft = isAnyLeft || failure != nil
      guard failure !== resource.givenUp else { continue }
      resource.givenUp = failure
      holding.setGivenUp(failure)
    }
    knowsFailures = isAnyLeft
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
        clearReadinessDeadline(lease)
        lease.abandon()
      }
      resources[index]?.lease = nil
      resource.holding.hold(nil)
    }
    perform(graph.forgetRemoved())
  }

  /// Forgets the resources and bodies that were registered while a process ran, and those that depend on them, because
  /// the objects of the process are gone.
  func forgetProcess() {
    // An operation that was late may still run after an end in order.
    loseProcess()
    // Dependents come after their dependencies.
    for index in graph.order.reversed() {
      guard let resource = resources[index], resource.isOfProcess else { continue }
      resource.holding.noteEndOfProcess()
      remove(index)
    }
  }

  // MARK: Performing

  /// Performs the actions of the graph, and posts the changes of status.
  func perform(_ actions: [ResourceGraph.Action], at time: Duration? = nil) {
    let changes = graph.takeChanges()
    if !actions.isEmpty || !changes.isEmpty {
      let time = time ?? clock.now()
      for action in actions { perform(action, at: time) }
      updateFailures(after: changes)
      announce(changes, at: time)
      // Forget resources after the announcement of their last change.
      for case .forget(let index) in actions { forget(index) }
    }
    // After the last operation the wait for the tear-down may be over.
    let awaits = graph.awaited > 0
    if wasAwaited, !awaits { parts?.tearDown.didProgress() }
    wasAwaited = awaits
    serveHoldWaiters()
  }

  private func perform(_ action: ResourceGraph.Action, at time: Duration) {
    switch action {
    case .acquire(let index), .release(let index):
      resources[index]?.operationIsDecided(at: time, in: parts)
      queue?.add(index)
    case .retry(let index, let failures):
      let delay = delay(of: index, afterFailures: failures)
      resources[index]?.retryDelay = delay
      let deadline = clock.instant(after: delay)
      let generation = generation
      retries[index] = tasks.startOnMainActor { await self.waitToRetry(index, until: deadline, generation) }
    case .cancelAcquire(let index):
      queue?.cancel(index)
      // Its dependencies stay held until the acquire has ended, so report an acquire that ignores its cancellation. One
      // with a lease has ended, and only its loop has not begun.
      if resources[index]?.lease == nil { setDeadline(of: index) }
    case .cancelRetry(let index): retries.removeValue(forKey: index)?.cancel()
    case .forget: break
    }
  }

  private func forget(_ index: Int) {
    let operations = resources[index]?.operations
    resources[index] = nil
    graph.recycle(index)
    operations?.holding.forget()
    operations?.whenForgotten?()
  }

  /// Ends the waits for resources when the application is gone; what still runs may keep the manager.
  func endWaits() { for resource in resources { resource?.holding.forget() } }

  /// Notes the end of an operation, and performs what follows from it in the graph.
  func didEnd(
    _ index: Int, _ generation: Int, _ outcome: LedgerEntry.Outcome? = nil, at time: Duration? = nil,
    _ event: (inout ResourceGraph) -> [ResourceGraph.Action]
  ) {
    guard generation == self.generation else { return }
    let time = time ?? clock.now()
    // A late operation has been noted already.
    if let outcome, !graph.isLate(index) { note(index, outcome, at: time) }
    // An observer may have released the application.
    guard generation == self.generation else { return }
    let endsBody = resources[index]?.isBody == true && graph.isBeingTornDown(index)
    perform(event(&graph), at: time)
    if endsBody { application?.tearDown.bodiesDidEnd() }
  }

  func note(_ index: Int, _ outcome: LedgerEntry.Outcome, at time: Duration) {
    guard let parts, let resource = resources[index], let step = stepInLedger(index, resource) else { return }
    var entry = resource.entry(step, outcome, at: time)
    if !graph.isWanted(index), parts.tearDown.blames(entry) { entry.outcome = .overran }
    guard !parts.observers.isEmpty else { return parts.ledger.note(entry, on: resource.page) }
    application?.note(entry, of: resource.call, on: resource.page)
  }

  /// The name of the running operation in the ledger; nil if the ledger does not list it.
  ///
  /// Of a body the ledger lists only its end, and only if it ran until then.
  private func stepInLedger(_ index: Int, _ resource: Resource) -> CallStep? {
    let isAcquired = graph.status(of: index) == .acquiring
    if resource.isBody, isAcquired || !resource.endsLoop { return nil }
    return isAcquired ? .acquire : .release
  }

  /// Reports to observers that an operation has begun.
  func callBegins(_ index: Int, _ resource: Resource) {
    guard parts?.observers.describesCalls == true, let application, let step = stepInLedger(index, resource) else {
      return
    }
    // Call observers before changing `resources`, because they may read it.
    let entry = resource.entry(step, .completed, at: resource.operationBegan)
    guard let call = application.callBegins(entry, in: resource.transition) else { return }
    resource.call = call.id
    // A body runs inside the call of its loop.
    if !resource.isBody { resource.intercepted = application.intercepted(call) }
    // The time of observers does not count toward the operation.
    resource.operationBegins(at: clock.now())
  }
}
