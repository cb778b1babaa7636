extension Application {
  /// Who spent the time of the latest transitions and stays in the background, who overran, and which task was never ended.
  ///
  /// - Complexity: linear in the number of pages.
  public var ledger: BudgetLedger { ledgerKeeper.ledger }

  /// Adds to the stay that lasts, else to the transition under way, else to the latest page.
  func note(_ entry: LedgerEntry) { note(entry, on: ledgerKeeper.present) }

  /// Adds to a page, and tells those who want to know.
  func note(_ entry: LedgerEntry, on page: LedgerKeeper.PageID?) {
    ledgerKeeper.note(entry, on: page)
    for observer in entryObservers { observer(entry) }
  }
}
