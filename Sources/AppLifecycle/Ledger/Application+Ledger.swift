internal import PubSub
internal import Scheduling

extension Application {
  /// The ledger of the calls during and after the latest transitions, with overruns and tasks that were never ended.
  ///
  /// - Complexity: linear in the number of transitions.
  public var ledger: BudgetLedger { ownLedger.snapshot }

  /// Adds to the latest page.
  func note(_ entry: LedgerEntry, of call: TracedCall.ID? = nil) { note(entry, of: call, on: ownLedger.page) }

  /// Adds to a page.
  ///
  /// - Parameters:
  ///   - entry: what has ended.
  ///   - call: the call that it is about, if its beginning was observed.
  ///   - page: where it belongs.
  func note(_ entry: consuming LedgerEntry, of call: TracedCall.ID? = nil, on page: ApplicationLedger.PageID?) {
    // Usually there is no observer, and the entry moves to its page without a copy.
    guard !observers.isEmpty else { return ownLedger.note(entry, on: page) }
    ownLedger.note(copy entry, on: page)
    tell(.callEnded(entry, of: call))
  }

  /// Adds the overrun of a budget to a page.
  func note(_ overrun: BudgetOverrun, on page: ApplicationLedger.PageID?) {
    ownLedger.note(overrun, on: page)
    tell(.overran(overrun))
  }

  // MARK: Errors

  /// Reports an error that code of the program threw; the caller has added the call to the ledger.
  ///
  /// - Parameters:
  ///   - error: the error.
  ///   - code: the code that threw it.
  ///   - step: the purpose of the call, as in the ledger.
  ///   - hasRecipient: whether the error has another recipient, which decides what follows.
  ///   - isToldByEvent: whether `ResourceDidChange` or `RunDidEnd` tells of the error.
  ///   - isInsideFailure: whether a handler of `HandlerFailure` started the code, so that the error is not posted.
  nonisolated func report(
    _ error: any Error, of code: EventBus.Subscriber, _ step: CallStep, hasRecipient: Bool = false,
    isToldByEvent: Bool = false, isInsideFailure: Bool = false
  ) {
    var failure = EventBus.HandlerFailure(
      subscriber: code, eventName: EventName(rawValue: step.rawValue), error: error, hasRecipient: hasRecipient)
    (failure.isInLedger, failure.isToldByEvent, failure.isInsideFailure) = (true, isToldByEvent, isInsideFailure)
    bus.report(failure)
  }

  /// Adds the errors of handlers to the ledger, from now on, unless the call of the handler is in the ledger anyway.
  func noteFailuresOfHandlers() {
    bus.observeFailures(for: self) { [reference, tasks] failure in
      guard !failure.isInLedger else { return }
      // A handler may throw on any thread.
      tasks.startOnMainActor {
        guard let application = reference.application else { return }
        var entry = LedgerEntry(
          .subscriber, failure.subscriber, step: failure.eventName.rawValue, began: application.timing.now(),
          duration: .zero, outcome: .completed)
        // For observers every end has a beginning.
        let call = application.callBegins(entry)
        entry.outcome = .failed(failure.error.text)
        application.note(entry, of: call?.id)
      }
    }
  }

  /// Reports by name an operation that is late and that no budget covers.
  ///
  /// - Parameters:
  ///   - name: the resource's name, or the source of the call.
  ///   - operation: the operation.
  ///   - page: the page of the ledger that gets the overrun.
  func operationIsLate(_ name: String, _ operation: BudgetOverrun.Operation, on page: ApplicationLedger.PageID?) {
    report(.watchdog, name, transitions.presentCause ?? LifecycleCause(operation, of: name))
    note(
      BudgetOverrun(
        callback: .didEnterBackground, budget: configuration.didEnterBackgroundBudget, culprits: [name],
        operation: operation), on: page)
  }
}
