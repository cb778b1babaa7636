/// The outcome of an input.
public struct TransitionReport: Sendable, Hashable {
  /// Whether the input led to a transition, was ignored or was queued.
  public enum Outcome: Sendable, Hashable {
    /// The transition has finished, tear-down included, or its budget has passed.
    case completed
    /// The current state cannot handle the input.
    case ignored(reason: IgnoredReason)
    /// The call came from code for which a transition waits, so the input is queued until that transition has finished.
    case queued
  }

  /// Whether the input led to a transition, was ignored or was queued.
  public var outcome: Outcome
  /// The cause of the transition.
  public var cause: LifecycleCause
  /// The state before the transition.
  public var from: ApplicationState
  /// The state after the transition.
  public var to: ApplicationState
  /// The duration of the transition, by the application's clock, without the time for which the process stood still.
  public var duration: Duration
  /// The calls of the transition, in the order in which they ended; see ``LedgerPage/entries``.
  ///
  /// - Complexity: linear in their number.
  public var entries: [LedgerEntry] {
    get { kept.all }
    set { kept = LedgerEntries(newValue) }
  }
  /// The entries in the form in which they were noted.
  var kept: LedgerEntries
  /// The budgets that were overrun, each with the code that overran it.
  public var overruns: [BudgetOverrun]

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - outcome: the outcome of the input.
  ///   - cause: the cause of the transition.
  ///   - from: the state before the transition.
  ///   - to: the state after the transition.
  ///   - duration: the duration of the transition.
  ///   - entries: the calls of the transition.
  ///   - overruns: the budgets that were overrun.
  public init(
    outcome: Outcome, cause: LifecycleCause, from: ApplicationState, to: ApplicationState, duration: Duration = .zero,
    entries: [LedgerEntry] = [], overruns: [BudgetOverrun] = []
  ) {
    (self.outcome, self.cause, self.from, self.to, self.duration) = (outcome, cause, from, to, duration)
    (kept, self.overruns) = (LedgerEntries(entries), overruns)
  }

  /// Whether this transition ended the process.
  ///
  /// False for an input that was ignored, also while the application is not running.
  public var endsProcess: Bool { from.isInMemory && !to.isInMemory }

  /// The names of the code that overran a budget, without duplicates; see ``BudgetOverrun/culprits``.
  public var stragglers: [String] {
    var seen: Set<String> = []
    return overruns.flatMap(\.culprits).filter { seen.insert($0).inserted }
  }
}

extension TransitionReport: CustomStringConvertible {
  /// The report as one line of text: the outcome of the input, and for a transition its duration, its overruns and its
  /// longest call.
  public var description: String {
    switch outcome {
    case .completed: entries.line(about: "\(cause.rawValue): \(from) → \(to), \(duration.inSeconds)", overruns)
    case .ignored(let reason): "\(cause.rawValue): ignored, \(reason.rawValue)"
    case .queued: "\(cause.rawValue): queued"
    }
  }
}
