/// The ledger of an application: its pages, and what a post under way has noted of its handlers and not handed over yet.
///
/// Handlers come first: their notes are handed over before anything else is noted.
@MainActor final class ApplicationLedger {
  private var keeper: LedgerKeeper
  /// The handlers of the notification that is being posted.
  private var handlerNotes: HandlerNotes?

  init(limit: Int) { keeper = LedgerKeeper(limit: limit) }

  // MARK: Reading

  /// The ledger as it stands.
  ///
  /// - Complexity: linear in the number of pages.
  var snapshot: BudgetLedger {
    handlerNotes?.flush(into: &keeper)
    return keeper.ledger
  }

  /// The page of the transition under way; nil between transitions.
  var transitionPage: LedgerKeeper.PageID? { keeper.transition }

  /// The page for what happens now and belongs to nothing else.
  var presentPage: LedgerKeeper.PageID? { keeper.present }

  /// The page for what a transition sets going: its own while it is under way.
  var ownPage: LedgerKeeper.PageID? { keeper.ownPage }

  // MARK: Pages

  /// Opens the page of a transition.
  func beginTransition(_ cause: LifecycleCause, from state: ApplicationState, at time: Duration) {
    keeper.beginTransition(cause, from: state, at: time)
  }

  /// Closes the page of the transition.
  ///
  /// - Returns: the page; nil for an input that was ignored, which has none.
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

  /// Posts a notification, whose handlers are noted together.
  ///
  /// A post inside one of its handlers has notes of its own.
  ///
  /// - Parameters:
  ///   - notes: what the post notes of its handlers.
  ///   - post: posts the notification.
  /// - Returns: what `post` returns.
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
