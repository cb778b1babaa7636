/// The code that ran during the latest transitions and stays in the background, with times, overruns and tasks that were never
/// ended.
///
///     print(application.ledger)
///     for entry in application.ledger.late { print(entry.name, entry.duration) }
///
/// The history is bounded: it keeps the latest ``Application/Configuration/ledgerLimit`` pages, 64 by default, and no more than
/// 8,192 entries in all. The oldest pages go first, and the latest page stays, however many entries it has.
public struct BudgetLedger: Sendable, Hashable {
  /// The pages, oldest first.
  ///
  /// The last ones are the present stay and the transition under way, in this order.
  public var pages: [LedgerPage]

  /// A ledger of these pages.
  public init(pages: [LedgerPage] = []) { self.pages = pages }

  /// The entries of the code that exceeded its time, oldest first.
  public var late: [LedgerEntry] { pages.flatMap(\.late) }
  /// The budgets that were overrun, oldest first.
  public var overruns: [BudgetOverrun] { pages.flatMap(\.overruns) }
}

extension BudgetLedger: CustomStringConvertible {
  /// A line for each page.
  public var description: String { pages.map(\.description).joined(separator: "\n") }
}
