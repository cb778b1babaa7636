internal import PubSub

// Calls of delegates and posts, each with its time.

extension Application {
  /// Calls a delegate's method, and notes how long it took.
  ///
  /// The call that outlasts the budget that runs is to blame for it.
  func measure(_ method: String, of scene: SceneIdentifier? = nil, _ call: () -> Void) {
    let name = scene.map { "\(method) (\($0.rawValue))" } ?? method
    let id = callBegins(
      LedgerEntry(.delegate, name, step: method, began: timing.now(), duration: .zero), isSynchronous: true)
    let began = timing.now()
    tasks.naming(Subscriber(label: method, fileID: "", line: 0)) { call() }
    timing.passTime?(method)
    note(
      LedgerEntry(.delegate, name, step: method, began: began, duration: timing.now() - began), of: id,
      on: ownLedger.transitionPage, isTearDown: true)
  }

  /// Posts a notification of a step, and notes how long each handler took.
  ///
  /// - Parameters:
  ///   - event: the notification.
  ///   - subject: the application or scene from which it is posted.
  ///   - method: the delegate's method that it belongs to.
  ///   - awaits: whether its asynchronous handlers are waited for.
  ///   - phase: the phase that closes when they have ended.
  ///   - cause: what led to the step.
  func postMeasured<E: MainActorEvent>(
    _ event: E, from subject: any AnyObject & Sendable, of method: String, awaits: Bool, closing phase: LifecyclePhase?,
    cause: LifecycleCause
  ) {
    let deadline = timing.instant(after: configuration.didEnterBackgroundBudget)
    let notes = HandlerNotes(of: self, method, on: ownLedger.ownPage, isTearDown: awaits)
    let post = ownLedger.noteHandlers(notes) {
      bus.postObserved(event, from: subject, for: scope, now: timing.now, awaits: awaits, observer: notes)
    }
    guard let post else { return }
    tearDown.keep(PendingPost(post: post, closes: phase, deadline: deadline, cause: cause, page: notes.page))
  }

  /// Notes a call that has ended; during a tear-down, whether the deadline passed while it ran.
  func note(
    _ entry: LedgerEntry, of call: TracedCall.ID? = nil, on page: LedgerKeeper.PageID?, isTearDown: Bool
  ) {
    var entry = entry
    if isTearDown, tearDown.blames(entry) { entry.outcome = .overran }
    note(entry, of: call, on: page)
  }
}
