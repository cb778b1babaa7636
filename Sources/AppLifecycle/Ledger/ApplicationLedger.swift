/// The ledger of an application: its pages, and the notes about handlers that are not on a page yet.
///
/// A post collects notes about its handlers. They are added to a page before anything else is noted, so entries keep
/// their order.
@MainActor final class ApplicationLedger {
  private var keeper: LedgerKeeper
  /// The notes about the handlers of the notification that is being posted; nil between posts.
  private var handlerNotes: HandlerNotes?

  init(limit: Int) { keeper = LedgerKeeper(limit: limit) }

  // MARK: Reading

  /// The current contents of the ledger.
  ///
  /// - Complexity: linear in the number of pages.
  var snapshot: BudgetLedger {
    handlerNotes?.flush(into: &keeper)
    return keeper.ledger
  }

  /// The page of the transition under way; nil between transitions.
  var transitionPage: LedgerKeeper.PageID? { keeper.transition }

  /// The page for events that belong to no particular transition.
  var presentPage: LedgerKeeper.PageID? { keeper.present }

  /// The page for work that a transition starts: that of the transition while it is under way, else the present page.
  var ownPage: LedgerKeeper.PageID? { keeper.ownPage }

  // MARK: Pages

  /// Opens the page of a transition.
  func beginTransition(_ cause: LifecycleCause, from state: ApplicationState, at time: Duration) {
    keeper.beginTransition(cause, from: state, at: time)
  }

  /// Closes the page of the transition.
  ///
  /// - Returns: the page; nil for an ignored input, which has no page.
  func endTransition(in state: ApplicationState, at time: Duration) -> LedgerPage? {
    keeper.endTransition(in: state, at: time)
  }

  /// Opens the page of a stay in the background.
  func beginStay(_ cause: LifecycleCause, at time: Duration) { keeper.beginStay(cause, at: time) }

  /// Closes the page of the stay, if one lasts.
  func endStay(in state: ApplicationState, at time: Duration) { keeper.endStay(in: state, at: time) }

  // MARK: Noting

  /// Adds a call that has ended to a page.
  func note(_ entry: LedgerEntry, on page: LedgerKeeper.PageID?) {
    handlerNotes?.flush(into: &keeper)
    keeper.note(entry, on: page)
  }

  /// Adds the overrun of a budget to a page.
  func note(_ overrun: BudgetOverrun, on page: LedgerKeeper.PageID?) { keeper.note(overrun, on: page) }

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
    outer?.flush(into: &keeper)
    handlerNotes = notes
    let result = post()
    notes.endPosting(into: &keeper)
    handlerNotes = outer
    return result
  }
}
