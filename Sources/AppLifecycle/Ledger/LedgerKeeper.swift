internal import PubSub

/// The pages of a ledger, as a pure value.
///
/// It opens a page for each transition and each stay, and drops the oldest pages.
struct LedgerKeeper {
  /// An identifier of a page, which stays unique after the page has been dropped.
  struct PageID: Hashable {
    fileprivate let number: Int
  }

  /// The largest number of entries on all pages together.
  static let mostEntries = 8_192

  private struct Numbered {
    let number: Int
    var page: LedgerPage
  }

  let limit: Int
  /// The pages, in ascending order of their numbers.
  private var pages: [Numbered] = []
  private var lastNumber = 0
  private var entryCount = 0
  private(set) var transition: PageID?
  private(set) var stay: PageID?

  init(limit: Int) { self.limit = max(limit, 1) }

  /// The pages as a ledger.
  ///
  /// - Complexity: linear in the number of pages.
  var ledger: BudgetLedger { BudgetLedger(pages: pages.map(\.page)) }

  /// The page for events that belong to no particular transition: that of the current stay, else that of the transition
  /// under way, else the latest page.
  var present: PageID? { stay ?? transition ?? pages.last.map { PageID(number: $0.number) } }

  /// The page for work that a transition starts: that of the transition while it is under way, else the present page.
  var ownPage: PageID? { transition ?? present }

  // MARK: Pages

  mutating func beginTransition(_ cause: LifecycleCause, from state: ApplicationState, at time: Duration) {
    transition = open(LedgerPage(kind: .transition, cause: cause, from: state, to: state, began: time))
  }

  /// Closes the page of the transition, and returns it; from then on the page may be dropped.
  mutating func endTransition(in state: ApplicationState, at time: Duration) -> LedgerPage? {
    guard let transition else { return nil }
    let page = close(transition, in: state, at: time)
    self.transition = nil
    forget()
    return page
  }

  /// Opens the page of a stay, because *background* has been committed or the last background mode has ended.
  mutating func beginStay(_ cause: LifecycleCause, at time: Duration) {
    endStay(in: .background, at: time)
    stay = open(LedgerPage(kind: .stay, cause: cause, from: .background, to: .background, began: time))
  }

  /// Closes the page of the current stay, if there is one, because another state has been committed or a new stay
  /// begins.
  mutating func endStay(in state: ApplicationState, at time: Duration) {
    guard let stay else { return }
    _ = close(stay, in: state, at: time)
    self.stay = nil
  }

  // MARK: Entries

  mutating func note(_ entry: LedgerEntry, on page: PageID?) {
    guard let page, let index = index(of: page) else { return }
    pages[index].page.kept.append(entry)
    entryCount += 1
    if entryCount > Self.mostEntries { forget() }
  }

  /// Notes handlers of one notification, in the order in which they returned.
  mutating func note(_ handlers: [HandlerTime], step: String, on page: PageID?) {
    guard let page, let index = index(of: page) else { return }
    pages[index].page.kept.append(handlers, step: step)
    entryCount += handlers.count
    if entryCount > Self.mostEntries { forget() }
  }

  mutating func note(_ overrun: BudgetOverrun, on page: PageID?) {
    guard let page, let index = index(of: page) else { return }
    pages[index].page.overruns.append(overrun)
  }

  /// The index of a page; nil if it has been dropped.
  ///
  /// The search begins at the latest page, the usual result.
  private func index(of page: PageID) -> Int? { pages.lastIndex { $0.number == page.number } }

  private mutating func open(_ page: LedgerPage) -> PageID {
    lastNumber += 1
    pages.append(Numbered(number: lastNumber, page: page))
    if pages.count > limit { forget() }
    return PageID(number: lastNumber)
  }

  private mutating func close(_ page: PageID, in state: ApplicationState, at time: Duration) -> LedgerPage? {
    guard let index = index(of: page) else { return nil }
    pages[index].page.to = state
    pages[index].page.duration = time - pages[index].page.began
    return pages[index].page
  }

  /// Drops the oldest pages, but not that of the current stay or of the transition under way.
  ///
  /// The report of the transition is made from its page. If too many entries are left, the method drops the oldest
  /// entries of the stay: the stay of a service lasts as long as the process.
  private mutating func forget() {
    while pages.count > 1, pages.count > limit || entryCount > Self.mostEntries {
      let (stay, transition) = (stay?.number, transition?.number)
      guard let oldest = pages.dropLast().firstIndex(where: { $0.number != stay && $0.number != transition }) else {
        break
      }
      entryCount -= pages[oldest].page.kept.count
      pages.remove(at: oldest)
    }
    guard entryCount > Self.mostEntries, let stay, let index = index(of: stay) else { return }
    // Drop half of them at once, so that each entry costs constant time on average.
    let dropped = pages[index].page.kept.dropOldest(keeping: Self.mostEntries / 2)
    pages[index].page.dropped += dropped
    entryCount -= dropped
  }
}
