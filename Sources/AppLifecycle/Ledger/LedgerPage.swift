/// A page of the ledger: the calls during one transition, or during one stay in the background.
public struct LedgerPage: Sendable, Hashable {
  /// The kind of a page.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The transition of one input of the system, tear-down included.
    case transition
    /// A stay in the background: it begins with the change to background or the end of the last background mode, and
    /// ends with the next change of state or end of the last background mode.
    case stay
  }

  /// Whether the page is about a transition or about a stay.
  public var kind: Kind
  /// The cause of the transition or stay.
  public var cause: LifecycleCause
  /// The state before the transition; for a stay, background.
  public var from: ApplicationState
  /// The state after the transition, or the state that ended the stay; equal to `from` while it lasts.
  public var to: ApplicationState
  /// The time when it began, by the application's clock, counted from the creation of the application.
  public var began: Duration
  /// The duration of the transition or stay; nil while it lasts.
  public var duration: Duration?
  /// The calls, in the order in which they ended.
  ///
  /// The acquire of a resource is added when it has ended, which may be after the end of the transition. The page
  /// includes only the asynchronous handlers for which the application waits: those of WillResignActive,
  /// DidEnterBackground and WillTerminate, and, with scenes, those of Scene.WillDeactivate, Scene.DidEnterBackground
  /// and Scene.DidDisconnect.
  ///
  /// - Complexity: linear in their number.
  public var entries: [LedgerEntry] {
    get { kept.all }
    set { kept = LedgerEntries(newValue) }
  }
  /// The number of entries that the ledger has dropped to bound the page of a long stay.
  public var dropped = 0
  /// The entries in the form in which they were noted.
  var kept: LedgerEntries
  /// The budgets that were overrun, each with the code that overran it.
  public var overruns: [BudgetOverrun] = []

  init(
    kind: Kind, cause: LifecycleCause, from: ApplicationState, to: ApplicationState, began: Duration,
    duration: Duration? = nil, entries: [LedgerEntry] = []
  ) {
    (self.kind, self.cause, self.from, self.to) = (kind, cause, from, to)
    (self.began, self.duration, kept) = (began, duration, LedgerEntries(entries))
  }

  /// The entries of the code that exceeded its time.
  public var late: [LedgerEntry] { entries.filter(\.isLate) }
}

extension LedgerPage: CustomStringConvertible {
  /// The page as one line of text: the transition or stay, its duration, its overruns, and its longest call.
  public var description: String {
    let length = duration.map { $0.inSeconds } ?? "under way"
    let what =
      switch kind {
      case .transition: "\(cause.rawValue): \(from) → \(to), \(length)"
      case .stay: "stay in the background, \(cause.rawValue), \(length)"
      }
    return entries.line(about: what, overruns)
  }
}

extension [LedgerEntry] {
  /// The entries as one readable line: the subject, the number of calls, the overruns, the tasks that were never ended,
  /// and the longest call.
  func line(about what: String, _ overruns: [BudgetOverrun]) -> String {
    let calls = count == 1 ? "1 call" : "\(count) calls"
    let blamed = overruns.map(\.description)
    let unended = filter { $0.outcome == .neverEnded }.map { "\($0.name) never ended" }
    // Of several calls of equal length, take the first.
    let longest = reduce(into: LedgerEntry?.none) { longest, entry in
      if entry.duration > (longest?.duration ?? .zero) { longest = entry }
    }
    let spent = longest.map { ["longest: \($0)"] } ?? []
    return ([what, calls] + blamed + unended + spent).joined(separator: "; ")
  }
}
