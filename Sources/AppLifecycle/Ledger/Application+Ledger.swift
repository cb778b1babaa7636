extension Application {
  /// The ledger of the calls during the latest transitions and stays in the background, with overruns and tasks that
  /// were never ended.
  ///
  /// - Complexity: linear in the number of pages.
  public var ledger: BudgetLedger {
    handlerNotes?.flush()
    return ledgerKeeper.ledger
  }

  /// Adds to the stay that lasts, else to the transition under way, else to the latest page.
  func note(_ entry: LedgerEntry, of call: TracedCall.ID? = nil) { note(entry, of: call, on: ledgerKeeper.present) }

  /// Adds to a page.
  ///
  /// - Parameters:
  ///   - entry: what has ended.
  ///   - call: the call that it is about, if its beginning was observed.
  ///   - page: where it belongs.
  func note(_ entry: LedgerEntry, of call: TracedCall.ID? = nil, on page: LedgerKeeper.PageID?) {
    handlerNotes?.flush()
    ledgerKeeper.note(entry, on: page)
    tell(.callEnded(entry, of: call))
  }

  /// Adds the overrun of a budget to a page.
  func note(_ overrun: BudgetOverrun, on page: LedgerKeeper.PageID?) {
    ledgerKeeper.note(overrun, on: page)
    tell(.overran(overrun))
  }
}
