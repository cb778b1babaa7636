internal import PubSub
internal import Scheduling

// The run loop and the health check of a resource while it is held.

extension ResourceManager {
  func startLoop(_ index: Int, _ lease: HeldLease, willBegin: (@MainActor () -> Void)? = nil) {
    guard let operations = resources[index]?.operations, let body = operations.run,
      let handle = operations.holding.presentHandle
    else { return }
    let lent = self.lease(lease.number, of: index, operations.holding)
    let generation = generation
    lease.startLoop { [scope] closing in
      let run = AwaitedRun(of: scope, generation: generation, lease: lent, closing: closing)
      return tasks.startOnMainActor(for: operations.source) { [weak self, clock, running] in
        // Work that this starts does not belong to the loop.
        HandlerContext.outside { willBegin?() }
        // Do not begin a loop that has been asked to end already, and do not react to its end.
        guard !Task.isCancelled, !lease.isEnding, self?.mayBeginLoop(index, lease) ?? false else {
          run.isOver = true
          return lease.loopDidEnd()
        }
        let (began, ranSince) = (clock.now(), running.now())
        var failure: (any Error)?
        do {
          try await HandlerContext.with(run) { try await body(handle) }
        } catch {
          failure = error
        }
        run.isOver = true
        self?.loopDidEnd(index, lease, failure, began: began, ranFor: running.now() - ranSince, run)
      }
    }
  }

  /// Whether the lease is the current one, and its release has not been decided; of a body also whether its phase is open.
  private func mayBeginLoop(_ index: Int, _ lease: HeldLease) -> Bool {
    guard let resource = resources[index], resource.lease === lease, graph.status(of: index) == .held else {
      return false
    }
    return resource.operations.body == nil || graph.isWanted(index)
  }

  private func loopDidEnd(
    _ index: Int, _ lease: HeldLease, _ error: (any Error)?, began: Duration, ranFor: Duration, _ run: AwaitedRun
  ) {
    let wasAsked = lease.isEnding
    lease.loopDidEnd()
    guard run.generation == generation, let resource = resources[index], resource.lease === lease else { return }
    guard !wasAsked, graph.status(of: index) == .held else {
      // A loop that was asked to end may still throw an error.
      if let error, !(error is CancellationError) { loopDidThrowAtEnd(index, lease, error, began: began) }
      return
    }
    let isReturn = error == nil || error is CancellationError
    let reaction = isReturn ? resource.operations.onReturn : resource.operations.onError
    // Last, because the handlers of the report may change anything.
    defer {
      if let error, !isReturn {
        // A resource that is invalidated tells of its error itself.
        let isBreak = resource.operations.body == nil && reaction == .invalidate
        application?.report(
          error, of: resource.operations.source, stepOfLoop(resource), hasRecipient: true, isToldByResource: isBreak)
      }
    }
    let reason =
      error.map { String(describing: $0) } ?? ResourceError.runLoopReturned(resource.operations.name).description
    noteEvent(.run, of: resource, began: began, isReturn ? .completed : .failed(reason))
    if let error, !isReturn {
      resources[index]?.lastError = reason
      if let loopDidThrow = resource.operations.loopDidThrow, !loopDidThrow(error) { return }
    }
    if resource.operations.isOver?() ?? false {
      // An owner that only its run held is gone by now; its choice to end the application counts all the same.
      if case .shutDown = reaction, !resource.operations.holding.isCancelled { react(reaction, to: resource) }
      return remove(index)
    }
    switch reaction {
    case .rest: break
    case .again: beginLoopAgain(index, lease, because: reason, ranFor: ranFor)
    case .invalidate:
      if resource.operations.holding.invalidate(lease.number, because: reason) {
        didInvalidate(index, lease: lease.number)
      }
    case .shutDown: react(reaction, to: resource)
    }
  }

  private func react(_ reaction: RunEnd, to resource: Resource) {
    guard case .shutDown(let status) = reaction else { return }
    application?.shutDown(status: status, cause: LifecycleCause(.end, of: resource.operations.name))
  }

  /// Notes and reports an error that a loop or body threw after it had been asked to end.
  private func loopDidThrowAtEnd(_ index: Int, _ lease: HeldLease, _ error: any Error, began: Duration) {
    guard let resource = resources[index] else { return }
    let text = String(describing: error)
    if resource.operations.body != nil, !graph.isLate(index) {
      // The entry about the end of the body has the error.
      lease.errorOfEnd = text
    } else {
      noteEvent(.run, of: resource, began: began, .failed(text))
    }
    let goesToCaller = resource.operations.loopDidThrow != nil
    application?.report(error, of: resource.operations.source, stepOfLoop(resource), hasRecipient: goesToCaller)
    _ = resource.operations.loopDidThrow?(error)
  }

  private func stepOfLoop(_ resource: Resource) -> CallStep {
    resource.operations.body == nil ? .run : .body(while: resource.phase)
  }

  private func beginLoopAgain(_ index: Int, _ lease: HeldLease, because reason: String, ranFor time: Duration) {
    guard let resource = resources[index] else { return }
    let policy = policy(of: resource)
    lease.loopFailures = time >= policy.resetAfter ? 1 : lease.loopFailures + 1
    if resource.operations.body == nil, let maximum = policy.maximumRetries, lease.loopFailures > maximum {
      return invalidate(index, because: reason, failures: lease.loopFailures)
    }
    let deadline = clock.instant(after: delay(of: index, afterFailures: lease.loopFailures))
    lease.startPause {
      tasks.startOnMainActor { [weak self, clock] in
        guard (try? await clock.sleepUntil(deadline)) != nil, !Task.isCancelled else { return }
        if let self, resources[index]?.lease === lease { startLoop(index, lease) }
      }
    }
  }
}
