/// A record of the calls during the latest transitions and stays in the background.
///
/// It contains the duration of each call, the overruns, and the tasks that were never ended.
///
///     print(application.ledger)
///     for entry in application.ledger.late { print(entry.name, entry.duration) }
///
/// The ledger keeps the latest ``Application/Configuration/ledgerLimit`` pages, 64 by default, and at most 8,192
/// entries in all. It drops the oldest pages first. If that is not enough, it drops the oldest entries of the current
/// stay in the background; it drops the entries of late code last. ``LedgerPage/dropped`` counts the dropped entries.
/// The page of a transition keeps all its entries.
public struct BudgetLedger: Sendable, Hashable {
  /// The pages, in the order in which they began.
  ///
  /// The page of a stay follows that of the transition that began it, and precedes those of the transitions during it.
  public var pages: [LedgerPage]

  /// Creates a ledger with pages.
  ///
  /// - Parameter pages: the pages, oldest first.
  public init(pages: [LedgerPage] = []) { self.pages = pages }

  /// The entries of the code that exceeded its time, oldest first.
  public var late: [LedgerEntry] { pages.flatMap(\.late) }
  /// The budgets that were overrun, oldest first.
  public var overruns: [BudgetOverrun] { pages.flatMap(\.overruns) }
}

extension BudgetLedger: CustomStringConvertible {
  /// The ledger as text, one line for each page.
  public var description: String { pages.map(\.description).joined(separator: "\n") }
}
