/// A record of the calls during and after the latest transitions.
///
/// It contains the duration of each call, the overruns, and the tasks that were never ended.
///
///     print(application.ledger)
///     for entry in application.ledger.late { print(entry.name, entry.duration) }
///
/// The ledger keeps the latest 64 transitions, and at most 8,192 entries in all. It drops the oldest transitions first. If
/// that is not enough, it drops the oldest entries of the latest transition once that is complete, those of late code last.
public struct BudgetLedger: Sendable, Hashable {
  /// The latest transitions, oldest first.
  ///
  /// Each has, in addition to what its report had, the calls that ended between its end and the next transition. The last one
  /// may be under way.
  public var transitions: [TransitionReport]
  /// The number of entries that the ledger has dropped.
  package var dropped: Int

  /// Creates a ledger.
  package init(transitions: [TransitionReport] = [], dropped: Int = 0) {
    (self.transitions, self.dropped) = (transitions, dropped)
  }

  /// The calls, in the order in which they ended within each transition.
  public var entries: [LedgerEntry] { transitions.flatMap(\.entries) }
  /// The entries of the code that exceeded its time, oldest first.
  public var late: [LedgerEntry] { entries.filter(\.isLate) }
  /// The budgets that were overrun, oldest first.
  public var overruns: [BudgetOverrun] { transitions.flatMap(\.overruns) }
}

extension BudgetLedger: CustomStringConvertible {
  /// The ledger as text, one line for each transition.
  public var description: String { transitions.map(\.description).joined(separator: "\n") }
}
