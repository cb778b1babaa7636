/// A budget that was overrun.
public struct BudgetOverrun: Sendable, Hashable {
  /// The callback whose budget it was.
  public var callback: ApplicationCallback
  /// How long there was, from the delegate call's beginning.
  public var budget: Duration
  /// Who overran it: methods of the delegate, labels or source positions of subscribers, names of resources.
  public var culprits: [String]

  /// An overrun.
  public init(callback: ApplicationCallback, budget: Duration, culprits: [String]) {
    self.callback = callback
    self.budget = budget
    self.culprits = culprits
  }
}

/// Who spent the time of one transition, or of one stay in the background.
public struct LedgerPage: Sendable, Hashable {
  /// What a page is about.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// What one input of the system led to, tear-down included.
    case transition
    /// The time from one commit of *background*, or the end of the last background mode there, to the next of either.
    case stay
  }

  /// What the page is about.
  public var kind: Kind
  /// What led to it.
  public var cause: LifecycleCause
  /// The state before the transition; of a stay, background.
  public var from: ApplicationState
  /// The state after the transition; of a stay, that in which it ended; the same as `from` while it lasts.
  public var to: ApplicationState
  /// When it began, by the application's clock, since that was first read.
  public var began: Duration
  /// How long it took; nil while it lasts.
  public var duration: Duration?
  /// Who was called or ran, in the order in which they ended.
  ///
  /// Resources that a transition began to acquire are added when they have been acquired, also after its end. Asynchronous
  /// handlers are here where they are waited for: those of WillResignActive, DidEnterBackground and WillTerminate.
  public var entries: [LedgerEntry] = []
  /// The budgets that were overrun, and by whom.
  public var overruns: [BudgetOverrun] = []

  /// The entries of those to blame.
  public var late: [LedgerEntry] { entries.filter(\.isLate) }
}

extension LedgerPage: CustomStringConvertible {
  /// The page as one line for a person: what, how long, who was late, and who took longest.
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
  /// A line for a person: what it is about, how many calls there were, who was late, and who took longest.
  func line(about what: String, _ overruns: [BudgetOverrun]) -> String {
    let calls = count == 1 ? "1 call" : "\(count) calls"
    let blamed = overruns.map { overrun in
      "\(overrun.callback.rawValue) overran its \(overrun.budget.inSeconds): \(overrun.culprits.joined(separator: ", "))"
    }
    let unended = filter { $0.outcome == .neverEnded }.map { "\($0.name) never ended" }
    // The first of several that took equally long: the order of the entries decides nothing else.
    let longest = reduce(into: LedgerEntry?.none) { longest, entry in
      if entry.duration > (longest?.duration ?? .zero) { longest = entry }
    }
    let spent = longest.map { ["longest: \($0)"] } ?? []
    return ([what, calls] + blamed + unended + spent).joined(separator: "; ")
  }
}
