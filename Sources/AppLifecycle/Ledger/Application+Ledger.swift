extension Application {
  /// Who spent the time of the latest transitions and stays in the background, who overran, and which task was never ended.
  ///
  /// - Complexity: linear in the number of pages.
  public var ledger: BudgetLedger { ledgerKeeper.ledger }

  /// Adds to the stay that lasts, else to the transition under way, else to the latest page.
  func note(_ entry: LedgerEntry) { ledgerKeeper.note(entry, on: ledgerKeeper.present) }
}
