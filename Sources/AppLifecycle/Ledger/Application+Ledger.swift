extension Application {
  /// The ledger of the calls during the latest transitions and stays in the background, with overruns and tasks that
  /// were never ended.
  ///
  /// - Complexity: linear in the number of pages.
  public var ledger: BudgetLedger { ownLedger.snapshot }

  /// Adds to the stay that lasts, else to the transition under way, else to the latest page.
  func note(_ entry: LedgerEntry, of call: TracedCall.ID? = nil) { note(entry, of: call, on: ownLedger.presentPage) }

  /// Adds to a page.
  ///
  /// - Parameters:
  ///   - entry: what has ended.
  ///   - call: the call that it is about, if its beginning was observed.
  ///   - page: where it belongs.
  func note(_ entry: LedgerEntry, of call: TracedCall.ID? = nil, on page: LedgerKeeper.PageID?) {
    ownLedger.note(entry, on: page)
    tell(.callEnded(entry, of: call))
  }

  /// Adds the overrun of a budget to a page.
  func note(_ overrun: BudgetOverrun, on page: LedgerKeeper.PageID?) {
    ownLedger.note(overrun, on: page)
    tell(.overran(overrun))
  }

  /// Reports by name an operation that is late and that no budget covers.
  ///
  /// - Parameters:
  ///   - name: the resource's name, or the source of the call.
  ///   - operation: what it was doing: `acquire` or `release`; `end` for a body.
  ///   - page: the page of the ledger that gets the overrun.
  func operationIsLate(_ name: String, _ operation: String, on page: LedgerKeeper.PageID?) {
    record(
      .report, "watchdog:\(name)", transitions.presentCause ?? LifecycleCause(rawValue: "\(operation) of \(name)"))
    note(
      BudgetOverrun(
        callback: .didEnterBackground, budget: configuration.didEnterBackgroundBudget, culprits: [name],
        operation: operation), on: page)
  }
}
