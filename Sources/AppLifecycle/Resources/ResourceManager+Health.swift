internal import PubSub
internal import Scheduling

// Health checks: when they run, and what a failed or late one leads to.

extension ResourceManager {
  func startChecks(_ index: Int, _ lease: HeldLease) {
    guard let operations = resources[index]?.operations, let check = operations.check,
      let handle = operations.holding.presentHandle
    else { return }
    let interval = max(operations.habits.checkInterval, .milliseconds(1))
    let lent = ResourceLease(lease.number, of: operations.holding)
    let generation = generation
    // A check on which others wait does not wait itself.
    let isAwaited = operations.habits.readiness == .checked
    lease.startChecks {
      tasks.startOnMainActor(for: operations.source) { [weak self, scope, clock] in
        var pause = isAwaited ? Duration.zero : interval
        while !lease.isEnding {
          if pause > .zero {
            let failure = await clock.failureOfSleep(until: clock.instant(after: pause))
            guard !Task.isCancelled, !lease.isEnding else { break }
            if let failure {
              self?.waitForCheckDidFail(index, lease, failure)
              break
            }
          }
          pause = interval
          // A suspended process performs no checks. A timer may wake one before the input that ends the suspension is
          // handled: it is due, and follows soon.
          if self?.application?.present.state == .suspended {
            pause = min(interval, .seconds(1))
            continue
          }
          let run = AwaitedRun(of: scope, generation: generation, lease: lent)
          self?.setCheckDeadline(index, lease, interval)
          lease.checkBegins()
          let intercepted = self?.application?.interceptedCall(
            LedgerEntry(
              .resource, operations.source, step: CallStep.check.rawValue, began: clock.now(), duration: .zero,
              outcome: .completed))
          do {
            try await HandlerContext.with(run) { try await intercepted.run { try await check(handle) } }
            lease.hasPassedCheck = true
            if operations.habits.readiness == .checked { self?.didBecomeReady(index, lease) }
          } catch {
            // A cancelled check was late, or its result is no longer needed, so its error is no failure.
            if !Task.isCancelled {
              lease.hasFailedCheck = true
              self?.application?.report(
                error, of: operations.source, .check, hasRecipient: true, isToldByEvent: true)
              lent.invalidate(because: error)
            }
          }
          run.isOver = true
          self?.clearCheckDeadline(lease)
          lease.checkDidEnd()
          guard lent.isValid else { break }
        }
      }
    }
  }

  /// Breaks a resource that can no longer be checked, as if a check had failed.
  private func waitForCheckDidFail(_ index: Int, _ lease: HeldLease, _ failure: ClockFailure) {
    guard let operations = resources[index]?.operations, resources[index]?.lease === lease else { return }
    lease.hasFailedCheck = true
    application?.report(failure, of: operations.source, .check, hasRecipient: true, isToldByEvent: true)
    breakHeld(index, lease, because: failure.description, failures: graph.nodes[index].failures + 1)
  }

  /// Breaks a held resource or body, which is then tried again after a wait, however long it was held.
  func breakHeld(_ index: Int, _ lease: HeldLease, because reason: String, failures: Int) {
    guard let resource = resources[index], resource.lease === lease,
      resource.holding.invalidate(lease.number, because: reason)
    else { return }
    invalidate(index, because: reason, failures: failures)
  }

  private func setCheckDeadline(_ index: Int, _ lease: HeldLease, _ interval: Duration) {
    let seen = suspensions
    let deadline = running.instant(after: interval)
    lease.checkTimer = deadlines?.set(deadline) { [tasks, weak deadlines, weak self, weak lease] in
      let isEarly = deadlines?.haveRungEarly ?? false
      tasks.startOnMainActor { [weak self, weak lease] in
        if let self, let lease { checkIsLate(index, lease, interval, suspensionsSeen: isEarly ? nil : seen) }
      }
    }
  }

  func clearCheckDeadline(_ lease: HeldLease) {
    if let timer = lease.checkTimer { deadlines?.clear(timer) }
    lease.checkTimer = nil
  }

  /// Breaks a resource whose check has not returned in time.
  ///
  /// `suspensionsSeen` is the number of suspensions when the check began; nil if the clock cannot sleep, so that another
  /// deadline would pass at once, too.
  private func checkIsLate(_ index: Int, _ lease: HeldLease, _ interval: Duration, suspensionsSeen: Int?) {
    guard lease.checkTimer != nil, let resource = resources[index], resource.lease === lease, let application else {
      return
    }
    // A check cannot return while the process is suspended.
    if let suspensionsSeen, suspensions != suspensionsSeen || application.present.state == .suspended {
      return setCheckDeadline(index, lease, interval)
    }
    lease.checkTimer = nil
    lease.hasFailedCheck = true
    let error = ResourceError.checkTimedOut(resource.operations.name, after: interval)
    if resource.holding.invalidate(lease.number, because: error.description) {
      didInvalidate(index, lease: lease.number)
    }
    lease.cancelCheck()
  }
}
