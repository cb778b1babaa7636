internal import PubSub
internal import Scheduling

// Acquires, releases, and the invalidations between them.

extension ResourceManager {
  /// Performs operations of resources.
  ///
  /// All is in one function, because each further asynchronous function would cost as much as the rest.
  func performOperations(_ next: @MainActor () -> Int?) async {
    while let index = next() {
      if resources[index]?.waitsForProcess == true {
        let generation = generation
        try? await application?.processTime.untilRunning()
        guard generation == self.generation else { continue }
      }
      guard let resource = resources[index] else { continue }
      let operations = resource.operations
      switch graph.status(of: index) {
      // Skip the acquire of a resource that is no longer needed.
      // Nor does a body begin while its phase closes, unless it is owed this run.
      case .acquiring
      where graph.isAcquireCancelled(index) || (graph.mayRunOnce(index) && operations.isOwedRun?() != true):
        clearTimer(of: index)
        didEnd(index, generation) { $0.didFailToAcquire(index) }
      case .acquiring:
        let lease = ResourceLease(operations.holding.beginLease(), of: operations.holding)
        let run = begin(index, resource, lease: lease)
        do {
          didAcquire(index, try await inside(run, resource.intercepted, operations.acquire), lease.number, run)
        } catch {
          didFailToAcquire(index, error, run)
        }
      case .releasing:
        let (run, handle, waits) = beginRelease(index, resource)
        if waits { await resource.lease?.whenEnded() }
        // If the process has vanished meanwhile, nothing is released.
        guard run.generation == generation else { continue }
        do {
          if let handle { try await inside(run, resource.intercepted, operations.release(handle)) }
          didRelease(index, nil, run)
        } catch {
          didRelease(index, error, run)
        }
      case .idle, .held, .retrying, .failed: break
      }
    }
  }

  /// Performs an operation in the context of its run, inside the interceptors if there are any.
  ///
  /// It runs where its caller does, because a function on the main actor looks at its executor as it begins, and its
  /// caller does after it. Without interceptors the operation is passed on as it is, because a closure around it would do
  /// the same.
  @inline(never)
  private nonisolated(nonsending) func inside<Result: Sendable>(
    _ run: AwaitedRun, _ intercepted: InterceptedCall?, _ operation: @MainActor () async throws -> Result
  ) async throws -> Result {
    guard intercepted != nil else {
      return try await HandlerContext.$current.withValue(.within(run), operation: operation)
    }
    return try await HandlerContext.with(run) { try await intercepted.run(operation) }
  }

  private func begin(_ index: Int, _ resource: Resource, lease: ResourceLease? = nil) -> AwaitedRun {
    // Before observers are called, one of which may release the application.
    let generation = generation
    resource.operationBegins(at: clock.now())
    callBegins(index, resource)
    return AwaitedRun(of: scope, generation: generation, lease: lease)
  }

  // MARK: Acquiring

  private func didAcquire(_ index: Int, _ handle: HeldHandle, _ number: Int, _ run: AwaitedRun) {
    run.isOver = true
    guard run.generation == generation, let resource = resources[index] else { return }
    clearTimer(of: index)
    let time = clock.now()
    let lease = HeldLease(number: number, began: running.now())
    resource.lease = lease
    resource.holding.hold(handle)
    if resource.operations.run == nil {
      didBecomeHeld(index, lease, run, at: time)
    } else {
      // Begin the loop before dependent resources are acquired, because they may need it.
      startLoop(index, lease) { self.didBecomeHeld(index, lease, run, at: self.clock.now()) }
    }
  }

  private func didBecomeHeld(_ index: Int, _ lease: HeldLease, _ run: AwaitedRun, at time: Duration) {
    didEnd(index, run.generation, .completed, at: time) { $0.didAcquire(index) }
    // The acquire may have been cancelled, and the resource may be in release already.
    guard run.generation == generation, graph.status(of: index) == .held else { return }
    startChecks(index, lease)
    setReadinessDeadline(of: index, lease)
    didDeclareReady(index, lease: lease.number)
    didInvalidate(index, lease: lease.number)
  }

  private func didFailToAcquire(_ index: Int, _ error: any Error, _ run: AwaitedRun) {
    run.isOver = true
    guard run.generation == generation, let resource = resources[index] else { return }
    clearTimer(of: index)
    let isCancelled = graph.isAcquireCancelled(index)
    let text = error.text
    resource.holding.endLease()
    if !isCancelled { resource.lastError = text }
    didEnd(index, generation, isCancelled ? .cancelled : .failed(text)) { $0.didFailToAcquire(index) }
    // A cancelled acquire has to throw, so its error is no failure.
    if isCancelled { return }
    application?.report(error, of: resource.operations.source, .acquire, hasRecipient: true, isToldByEvent: true)
  }

  // MARK: Releasing

  /// - Returns: the run of the release, the handle to release, and whether a loop or a check must end before the
  ///   release.
  private func beginRelease(_ index: Int, _ resource: Resource) -> (AwaitedRun, HeldHandle?, waits: Bool) {
    // A release for another reason than the tear-down is not hurried with it.
    let isQuick = resource.isCutShort || (isHurried && graph.isBeingTornDown(index))
    if isQuick { withUnsafeCurrentTask { $0?.cancel() } }
    // A body that has ended with an error after its release was decided is an entry, too.
    resource.endsLoop = if let lease = resource.lease { lease.isRunning || lease.errorOfEnd != nil } else { false }
    let run = begin(index, resource)
    setDeadline(of: index)
    let handle = resource.holding.take()
    // A body that was cancelled for good is cancelled without being asked.
    let isHurried = isQuick || (resource.isBody && graph.isRemoved(index))
    if let lease = resource.lease { clearReadinessDeadline(lease) }
    return (run, handle, waits: resource.lease?.end(isHurried: isHurried) ?? false)
  }

  private func didRelease(_ index: Int, _ error: (any Error)?, _ run: AwaitedRun) {
    run.isOver = true
    guard run.generation == generation, let resource = resources[index] else { return }
    clearTimer(of: index)
    var outcome = LedgerEntry.Outcome.completed
    if let text = resource.lease?.errorOfEnd { outcome = .failed(text) }
    resource.lease = nil
    if let error {
      // The resource counts as released nevertheless, and will be acquired again.
      let text = error.text
      resource.lastError = text
      outcome = error.isFailure ? .failed(text) : .cancelled
    }
    let isFailure = error?.isFailure ?? false
    // The entry of a late release does not have its error.
    if isFailure, graph.isLate(index) { noteEvent(.release, of: resource, began: resource.operationBegan, outcome) }
    didEnd(index, generation, outcome) { $0.didRelease(index) }
    if isFailure, let error { application?.report(error, of: resource.operations.source, .release) }
  }

  // MARK: Deadlines

  /// Sets the deadline of a release or a cancelled acquire that no budget covers: the budget of didEnterBackground from
  /// now.
  func setDeadline(of index: Int) {
    guard let parts, parts.tearDown.deadline == nil || !graph.isAwaited(index), let resource = resources[index],
      let application
    else { return }
    let deadline = running.instant(after: application.configuration.didEnterBackgroundBudget)
    let (holding, operation) = (resource.holding, resource.operation)
    resources[index]?.timer = deadlines?.set(deadline) { [tasks, weak self, weak holding] in
      tasks.startOnMainActor { [weak self, weak holding] in
        if let self, let holding { operationIsLate(operation, of: index, holding) }
      }
    }
  }

  func clearTimer(of index: Int) {
    guard let timer = resources[index]?.timer else { return }
    resources[index]?.timer = nil
    deadlines?.clear(timer)
  }

  private func operationIsLate(_ operation: Int, of index: Int, _ holding: ResourceHolding) {
    guard let resource = resources[index], resource.holding === holding, resource.operation == operation,
      resource.timer != nil, let application
    else { return }
    resources[index]?.timer = nil
    // A budget that has begun meanwhile covers the operation, and its end handles it.
    if application.tearDown.deadline != nil, graph.isAwaited(index) { return }
    if !graph.isLate(index) {
      note(index, .overran, at: clock.now())
      graph.markLate(index)
      let release = !resource.isBody ? BudgetOverrun.Operation.release : .end
      application.operationIsLate(
        resource.operations.name, graph.status(of: index) == .acquiring ? .acquire : release, on: resource.page)
    }
    abandon(index)
    giveUpLate()
    if resource.isBody { application.tearDown.bodiesDidEnd() }
  }

  /// Cancels a late operation, and stops waiting for its loop.
  ///
  /// Only the next acquire, or the next run of a body, still waits for it.
  private func abandon(_ index: Int) {
    queue?.cancel(index)
    guard graph.status(of: index) == .releasing, let resource = resources[index] else { return }
    if !resource.isBody {
      resource.lease?.abandon()
    } else {
      resource.lease?.cancel()
      perform(graph.letGoOfDependencies(index))
    }
  }

  /// Cancels the operations for which a tear-down would still wait, notes them with their durations, and stops waiting
  /// for them.
  ///
  /// - Parameter blames: whether the operations are to blame; false if other code has used up their time.
  /// - Returns: the names of the resources whose operation has begun, and of those whose operation could not begin.
  func nameLate(blames: Bool) -> (begun: [String], notBegun: [String]) {
    let now = clock.now()
    var names: (begun: [String], notBegun: [String]) = ([], [])
    for index in graph.markLate() {
      guard let resource = resources[index] else { continue }
      if resource.operationHasBegun {
        names.begun.append(resource.operations.name)
      } else {
        names.notBegun.append(resource.operations.name)
      }
      note(index, blames && resource.operationHasBegun ? .overran : .cutShort, at: now)
      abandon(index)
    }
    return names
  }

  /// Releases the resources that wait only for late operations of a tear-down.
  func giveUpLate() { perform(graph.giveUpLate()) }

  // MARK: Breaking

  /// Handles the invalidation of a lease: releases the dependents, then the resource, and acquires all of them again.
  func didInvalidate(_ index: Int, lease number: Int) {
    // During the acquire nothing happens: `didBecomeHeld` checks for an invalidation.
    guard let resource = resources[index], let lease = resource.lease, lease.number == number,
      let reason = resource.holding.reason(of: number), graph.status(of: index) == .held,
      // A broken resource stays held until its dependents have been released.
      !graph.nodes[index].isBroken
    else { return }
    let time = running.now() - lease.began
    // Whatever the policy says, a resource that breaks at once is not acquired again at once. The same applies if its
    // first check fails, which may take longer than `resetAfter`.
    let neverWorked = (lease.hasFailedCheck && !lease.hasPassedCheck) || !graph.isReady(index)
    let isSteady = time >= policy(of: resource).resetAfter && time > .zero && !neverWorked
    invalidate(index, because: reason, failures: isSteady ? 0 : graph.nodes[index].failures + 1)
  }

  func invalidate(_ index: Int, because reason: String, failures: Int) {
    guard let resource = resources[index] else { return }
    let now = clock.now()
    resource.lastError = reason
    if !resource.isBody {
      application?.resourcesDidChange()
      noteEvent(.invalidate, of: resource, began: now, .failed(reason))
    }
    // Now, because a release of what depends on it may never end.
    let policy = policy(of: resource)
    if !resource.isBody, graph.isWanted(index), !graph.nodes[index].isLeaving, let most = policy.maximumRetries,
      failures > max(most, 0), case .shutDown(let status) = policy.whenExhausted
    {
      resource.endedProcess = generation
      shutDown(status, after: resource)
    }
    perform(graph.invalidate(index, failures: failures))
  }

  func policy(of resource: Resource) -> RetryPolicy { resource.operations.habits.retry ?? retry }

  func noteEvent(_ step: CallStep, of resource: Resource, began: Duration, _ outcome: LedgerEntry.Outcome) {
    application?.note(resource.entry(step, outcome, began: began, at: clock.now()))
  }
}
