/// The outcome of an input, with the calls of the transition to which it led.
public struct TransitionReport: Sendable, Hashable {
  /// Whether the input led to a transition, was ignored or was queued.
  public enum Outcome: Sendable, Hashable {
    /// The transition has not finished; only reports in a ledger have this outcome.
    case underWay
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
  /// The state after the transition; equal to ``from`` while it is under way.
  public var to: ApplicationState
  /// The time when the transition began, by the application's clock, counted from the creation of the application.
  public var began: Duration
  /// The duration of the transition, by the application's clock, without the time for which the process stood still; zero
  /// while it is under way.
  public var duration: Duration
  /// The calls of the transition, in the order in which they ended.
  ///
  /// Of the asynchronous handlers it has only those for which the application waits: those of WillResignActive,
  /// DidEnterBackground and WillTerminate, and, with scenes, those of Scene.WillDeactivate, Scene.DidEnterBackground and
  /// Scene.DidDisconnect. The acquire of a resource may end after the transition; then the ledger alone has it.
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
  package init(
    outcome: Outcome, cause: LifecycleCause, from: ApplicationState, to: ApplicationState, began: Duration = .zero,
    duration: Duration = .zero, entries: [LedgerEntry] = [], overruns: [BudgetOverrun] = []
  ) {
    (self.outcome, self.cause, self.from, self.to) = (outcome, cause, from, to)
    (self.began, self.duration, kept, self.overruns) = (began, duration, LedgerEntries(entries), overruns)
  }

  /// Whether this transition ended the process.
  ///
  /// False for an input that was ignored, also while the application is not running.
  public var endsProcess: Bool { from.isInMemory && !to.isInMemory }
}

extension TransitionReport: CustomStringConvertible {
  /// The report as one line of text: the outcome of the input, and for a transition its duration, its overruns and its
  /// longest call.
  public var description: String {
    switch outcome {
    case .completed: line(about: "\(from) → \(to), \(duration.inSeconds)")
    case .underWay: line(about: "\(from) → \(to), under way")
    case .ignored(let reason): "\(cause.rawValue): ignored, \(reason.rawValue)"
    case .queued: "\(cause.rawValue): queued"
    }
  }

  /// A transition as one line: what it was, the number of its calls, the overruns, the tasks that were never ended, and the
  /// longest call.
  private func line(about what: String) -> String {
    let entries = entries
    let calls = entries.count == 1 ? "1 call" : "\(entries.count) calls"
    let blamed = overruns.map(\.description)
    let unended = entries.filter { $0.outcome == .neverEnded }.map { "\($0.name) never ended" }
    // Of several calls of equal length, take the first.
    let longest = entries.reduce(into: LedgerEntry?.none) { longest, entry in
      if entry.duration > (longest?.duration ?? .zero) { longest = entry }
    }
    let spent = longest.map { ["longest: \($0)"] } ?? []
    return (["\(cause.rawValue): \(what)", calls] + blamed + unended + spent).joined(separator: "; ")
  }
}
