internal import PubSub
internal import Scheduling

// The run loop and the health check of a resource while it is held.

extension ResourceManager {
  func startLoop(_ index: Int, _ lease: HeldLease, willBegin: (@MainActor () -> Void)? = nil) {
    guard let resource = resources[index], case let operations = resource.operations, let body = operations.run,
      let handle = operations.holding.presentHandle
    else { return }
    let lent = ResourceLease(lease.number, of: operations.holding)
    let generation = generation
    lease.startLoop { [scope] closing in
      let run = AwaitedRun(of: scope, generation: generation, lease: lent, closing: closing)
      return tasks.startOnMainActor(for: operations.source) { [weak self, clock, running] in
        // Here and not at the acquire, as the phase may have closed or opened since.
        if self?.owesRun(index, lease) == true {
          lease.askAtOnce()
          run.isAskedAtOnce = true
        }
        // Work that this starts does not belong to the loop.
        HandlerContext.outside { willBegin?() }
        // Do not begin a loop that has been asked to end already, or whose owner is gone, and do not react to its end.
        let isOver = operations.isOver?() ?? false
        guard !lease.isEnding, !isOver,
          lease.isAskedAtOnce || (!Task.isCancelled && self?.mayBeginLoop(index, lease) == true)
        else {
          run.isOver = true
          lease.loopDidEnd()
          if isOver, let self, resources[index]?.lease === lease { remove(index) }
          return
        }
        let (began, ranSince) = (clock.now(), running.now())
        let intercepted = self?.interceptedLoop(index, began: began)
        var failure: (any Error)?
        do {
          try await HandlerContext.with(run) { try await intercepted.run { try await body(handle) } }
        } catch {
          failure = error
        }
        run.isOver = true
        self?.loopDidEnd(index, resource, lease, failure, began: began, ranFor: running.now() - ranSince, run)
      }
    }
  }

  /// A run of the loop or body, with the interceptors to run around it; nil if there are none.
  private func interceptedLoop(_ index: Int, began: Duration) -> InterceptedCall? {
    guard let application, let resource = resources[index] else { return nil }
    return application.interceptedCall(
      LedgerEntry(
        !resource.isBody ? .resource : .runBody, resource.operations.source,
        step: stepOfLoop(resource).rawValue, began: began, duration: .zero, outcome: .completed),
      isLongRunning: true)
  }

  /// Whether the lease is the current one, and its release has not been decided; of a body also whether its phase is open.
  private func mayBeginLoop(_ index: Int, _ lease: HeldLease) -> Bool {
    guard let resource = resources[index], resource.lease === lease, graph.status(of: index) == .held else {
      return false
    }
    return !resource.isBody || graph.isWanted(index)
  }

  /// Whether the lease is that of a body whose first run is due although its phase closes.
  private func owesRun(_ index: Int, _ lease: HeldLease) -> Bool {
    guard let resource = resources[index], resource.lease === lease, graph.mayRunOnce(index) else { return false }
    return resource.operations.isOwedRun?() ?? false
  }

  private func loopDidEnd(
    _ index: Int, _ resource: Resource, _ lease: HeldLease, _ error: (any Error)?, began: Duration, ranFor: Duration,
    _ run: AwaitedRun
  ) {
    let wasAsked = lease.isEnding || lease.isAskedAtOnce
    lease.loopDidEnd()
    guard run.generation == generation else { return }
    let isPresent = resources[index] === resource && resource.lease === lease
    guard isPresent, !wasAsked, graph.status(of: index) == .held else {
      // A loop that was asked to end may still throw an error, also so late that its resource was released without it.
      if let error, !(error is CancellationError) {
        let isInTime = isPresent && !graph.isLate(index)
        loopDidThrowAtEnd(resource, lease, error, began: began, isInTime: isInTime)
      }
      return
    }
    let isReturn = error == nil || error is CancellationError
    let reaction = reaction(of: index, resource, isReturn: isReturn)
    var sequel = Application.RunDidEnd.Sequel.rest
    // Last, because the handlers of the report may change anything.
    defer { report(isReturn ? nil : error, of: resource, sequel, began: began, wasAsked: false) }
    let reason =
      error?.text ?? ResourceError.runLoopReturned(resource.operations.name).description
    noteEvent(.run, of: resource, began: began, isReturn ? .completed : .failed(reason))
    if let error, !isReturn {
      resource.lastError = reason
      if !resource.isBody { application?.resourcesDidChange() }
      if let loopDidThrow = resource.operations.loopDidThrow {
        loopDidThrow(error)
        return sequel = .throwToCaller
      }
    }
    if resource.operations.isOver?() ?? false {
      // An owner that only its run held is gone by now; its choice to end the application counts all the same.
      if case .shutDown(let status) = reaction, !resource.holding.isCancelled {
        sequel = .shutDown(status: status)
        shutDown(status, after: resource)
      } else if !isReturn || reaction != .rest && !resource.holding.isCancelled {
        // A return is not expected where another run was to follow.
        sequel = .over
      }
      return remove(index)
    }
    switch reaction {
    case .rest:
      if case .declared = resource.operations.habits.readiness { didBecomeReady(index, lease) }
    case .again:
      let next = beginLoopAgain(index, lease, because: reason, ranFor: ranFor)
      // The release ends the pause before the next run; if the phase opens first, that run comes.
      sequel = graph.isWanted(index) ? next : .close
    case .invalidate:
      sequel = graph.isWanted(index) ? .invalidate : .close
      if resource.holding.invalidate(lease.number, because: reason) {
        didInvalidate(index, lease: lease.number)
      }
    case .shutDown(let status):
      sequel = .shutDown(status: status)
      shutDown(status, after: resource)
    }
  }

  /// The reaction to the end of a loop or body that was not asked to end.
  private func reaction(of index: Int, _ resource: Resource, isReturn: Bool) -> RunEnd {
    let operations = resource.operations
    let chosen = isReturn ? operations.habits.onReturn : operations.habits.onError
    // One that throws before it is ready would keep others waiting if it rested.
    let isBroken = chosen == .invalidate || (chosen == .rest && !isReturn && !graph.isReady(index))
    // A body has nothing to invalidate.
    return !isBroken ? chosen : operations.body == nil ? .invalidate : .again
  }

  /// Posts the end of a loop or body, unless it returned as the program expects, and reports its error.
  ///
  /// One that was asked to end (`wasAsked`) was to end without an error, and nothing decides what follows one.
  private func report(
    _ error: (any Error)?, of resource: Resource, _ sequel: Application.RunDidEnd.Sequel, began: Duration,
    wasAsked: Bool
  ) {
    guard let application, error != nil || sequel != .rest else { return }
    let operations = resource.operations
    application.bus.post(
      Application.RunDidEnd(
        application: application, name: operations.name, isBody: operations.body != nil,
        error: error?.text, sequel: sequel, began: began),
      from: application)
    guard let error else { return }
    application.report(
      error, of: operations.source, stepOfLoop(resource), hasRecipient: !wasAsked || sequel == .throwToCaller,
      isToldByEvent: true)
  }

  func shutDown(_ status: Int32, after resource: Resource) {
    application?.shutDown(status: status, cause: LifecycleCause(.end, of: resource.operations.name))
  }

  /// Notes and reports an error that a loop or body threw after it had been asked to end.
  private func loopDidThrowAtEnd(
    _ resource: Resource, _ lease: HeldLease, _ error: any Error, began: Duration, isInTime: Bool
  ) {
    let text = error.text
    if resource.isBody, isInTime {
      // The entry about the end of the body has the error.
      lease.errorOfEnd = text
    } else {
      noteEvent(.run, of: resource, began: began, .failed(text))
    }
    let sequel = resource.operations.loopDidThrow == nil ? Application.RunDidEnd.Sequel.close : .throwToCaller
    report(error, of: resource, sequel, began: began, wasAsked: true)
    resource.operations.loopDidThrow?(error)
  }

  private func stepOfLoop(_ resource: Resource) -> CallStep {
    !resource.isBody ? .run : .body(while: resource.phase)
  }

  /// - Returns: what follows: the next run, or the break of the resource after the last retry.
  private func beginLoopAgain(
    _ index: Int, _ lease: HeldLease, because reason: String, ranFor time: Duration
  ) -> Application.RunDidEnd.Sequel {
    guard let resource = resources[index] else { return .rest }
    let policy = policy(of: resource)
    lease.loopFailures = time >= policy.resetAfter ? 1 : lease.loopFailures + 1
    if !resource.isBody, let maximum = policy.maximumRetries, lease.loopFailures > maximum {
      breakHeld(index, lease, because: reason, failures: lease.loopFailures)
      return .invalidate
    }
    let delay = delay(of: index, afterFailures: lease.loopFailures)
    let deadline = clock.instant(after: delay)
    lease.startPause {
      tasks.startOnMainActor { [weak self, clock] in
        let failure = await clock.failureOfSleep(until: deadline)
        guard !Task.isCancelled, let self, resources[index]?.lease === lease else { return }
        if let failure {
          breakHeld(index, lease, because: failure.description, failures: lease.loopFailures)
        } else {
          startLoop(index, lease)
        }
      }
    }
    return .again(after: delay, failures: lease.loopFailures)
  }
}
