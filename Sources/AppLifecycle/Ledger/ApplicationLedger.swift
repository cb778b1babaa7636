internal import PubSub

/// The ledger of an application: a page for each of the latest transitions, and the notes about handlers that are not on
/// a page yet.
///
/// A page is the report of a transition. Calls that end after it are added to it until the next transition begins.
///
/// A post collects notes about its handlers. They are added to a page before anything else is noted, so entries keep
/// their order.
@MainActor final class ApplicationLedger {
  /// An identifier of a page, which stays unique after the page has been dropped.
  struct PageID: Hashable {
    fileprivate let number: Int
  }

  /// The largest number of entries on all pages together.
  static let mostEntries = 8_192
  /// The largest number of overruns on a page; a service may have one transition for as long as it runs.
  static let mostOverruns = 1_024

  /// The largest number of pages, at least 1.
  private let limit: Int
  // Each operation is noted in them, and no access calls code that accesses them again.
  /// The pages, oldest first; their numbers are consecutive, and the last page has ``lastNumber``.
  @exclusivity(unchecked) private var pages: [TransitionReport] = []
  private var lastNumber = 0
  private var entryCount = 0
  private var dropped = 0
  private var isInTransition = false
  /// The notes about the handlers of the notification that is being posted; nil between posts.
  private var handlerNotes: HandlerNotes?

  init(limit: Int = 64) { self.limit = limit }

  /// The current contents of the ledger.
  ///
  /// - Complexity: linear in the number of pages.
  var snapshot: BudgetLedger {
    handlerNotes?.flush(into: self)
    return BudgetLedger(transitions: pages, dropped: dropped)
  }

  /// The page of the transition under way, else of the latest transition; nil before the first transition.
  var page: PageID? { pages.isEmpty ? nil : PageID(number: lastNumber) }

  // MARK: Pages

  /// Opens the page of a transition.
  func begin(_ report: TransitionReport) {
    handlerNotes?.flush(into: self)
    lastNumber += 1
    pages.append(report)
    pages[pages.count - 1].outcome = .underWay
    isInTransition = true
    if pages.count > limit { forget() }
  }

  /// Completes the report of a transition, and its page, with each other; a report of an ignored input has no page.
  func end(_ report: inout TransitionReport) {
    guard isInTransition else { return }
    handlerNotes?.flush(into: self)
    let page = pages[pages.count - 1]
    (report.kept, report.overruns) = (page.kept, page.overruns)
    pages[pages.count - 1] = report
    isInTransition = false
    forget()
  }

  // MARK: Noting

  /// Adds a call that has ended to a page, unless the page has been dropped.
  func note(_ entry: consuming LedgerEntry, on page: PageID?) {
    handlerNotes?.flush(into: self)
    guard let index = index(of: page) else { return }
    pages[index].kept.append(entry)
    didAdd(1)
  }

  /// Adds handlers of one notification, in the order in which they returned.
  func note(_ handlers: HandlerTimes, step: String, on page: PageID?) {
    guard let index = index(of: page) else { return }
    pages[index].kept.append(handlers, step: step)
    didAdd(handlers.count)
  }

  /// Adds the overrun of a budget to a page, which keeps the latest ones.
  func note(_ overrun: BudgetOverrun, on page: PageID?) {
    guard let index = index(of: page) else { return }
    pages[index].overruns.append(overrun)
    if pages[index].overruns.count > Self.mostOverruns { pages[index].overruns.removeFirst(Self.mostOverruns / 2) }
  }

  /// Posts a notification, and notes all its handlers together.
  ///
  /// A post inside one of these handlers has notes of its own.
  ///
  /// - Parameters:
  ///   - notes: the notes about the handlers of the post.
  ///   - post: the code that posts the notification.
  /// - Returns: the value that `post` returns.
  func noteHandlers<Result>(_ notes: HandlerNotes, of post: () -> Result) -> Result {
    let outer = handlerNotes
    outer?.flush(into: self)
    handlerNotes = notes
    let result = post()
    notes.endPosting(into: self)
    handlerNotes = outer
    return result
  }

  // MARK: Bounds

  private func didAdd(_ count: Int) {
    entryCount += count
    if entryCount > Self.mostEntries { forget() }
  }

  /// The index of a page; nil if it has been dropped.
  private func index(of page: PageID?) -> Int? {
    guard let page else { return nil }
    let index = pages.count - 1 - (lastNumber - page.number)
    return index >= 0 ? index : nil
  }

  /// Drops the oldest pages, and if that is not enough, the oldest entries of the latest page.
  ///
  /// A service may have one transition for as long as it runs. A transition under way keeps its entries for its report.
  private func forget() {
    while pages.count > 1, pages.count > limit || entryCount > Self.mostEntries {
      let count = pages.removeFirst().kept.count
      entryCount -= count
      dropped += count
    }
    guard entryCount > Self.mostEntries, !isInTransition else { return }
    // Drop half of them at once, so that each entry costs constant time on average.
    let count = pages[pages.count - 1].kept.dropOldest(keeping: Self.mostEntries / 2)
    entryCount -= count
    dropped += count
  }
}
