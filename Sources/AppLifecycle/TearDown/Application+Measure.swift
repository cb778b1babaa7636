internal import PubSub
internal import Scheduling

// Timed calls of delegates, and timed posts.

extension Application {
  /// Calls a delegate method, and notes its duration.
  ///
  /// If the current budget ends during the call, the call is blamed for the overrun.
  func measure(_ method: String, of scene: SceneIdentifier? = nil, _ call: () -> Void) {
    let name = scene.map { "\(method) (\($0.rawValue))" } ?? method
    let traced = callBegins(
      LedgerEntry(.delegate, name, step: method, began: timing.now(), duration: .zero), isSynchronous: true,
      in: transitions.traced)
    let began = timing.now()
    tasks.naming(EventBus.Subscriber(label: method, fileID: "", line: 0)) { intercepted(traced).run(call) }
    timing.passTime?(method)
    note(
      LedgerEntry(.delegate, name, step: method, began: began, duration: timing.now() - began), of: traced?.id,
      on: ownLedger.page, isTearDown: true)
  }

  /// Posts a notification of a step, and notes the duration of each handler.
  ///
  /// - Parameters:
  ///   - event: the notification.
  ///   - subject: the application or scene from which it is posted.
  ///   - wider: an object to which the subject belongs; subscriptions to it receive the notification, too.
  ///   - method: the delegate method that precedes the notification.
  ///   - phase: the phase that closes when the handlers have ended; nil if none does, so that the application does not wait for
  ///     asynchronous handlers.
  ///   - cause: the cause of the step.
  func postMeasured<E: MainActorEvent>(
    _ event: E, from subject: any AnyObject & Sendable, within wider: (any AnyObject & Sendable)? = nil,
    of method: String, closing phase: LifecyclePhase?, cause: LifecycleCause
  ) {
    let deadline = phase.map { _ in running.instant(after: configuration.didEnterBackgroundBudget) }
    let notes = HandlerNotes(of: self, method, on: ownLedger.page, isTearDown: phase != nil)
    let post = ownLedger.noteHandlers(notes) {
      // Where the active phase closes, no transition waits, and handlers of *will…* events must run before the change.
      bus.postMeasured(
        event, from: subject, within: wider, for: scope, now: timing.now, awaits: phase != nil,
        pauses: phase != .active, observer: notes)
    }
    guard let post, let phase, let deadline else { return }
    tearDown.keep(PendingPost(post: post, closes: phase, deadline: deadline, cause: cause, page: notes.page))
  }

  /// Notes a call that has ended; in a tear-down, the call is noted as an overrun if the deadline passed during it.
  func note(
    _ entry: consuming LedgerEntry, of call: TracedCall.ID? = nil, on page: ApplicationLedger.PageID?, isTearDown: Bool
  ) {
    if isTearDown, tearDown.blames(entry) { entry.outcome = .overran }
    note(entry, of: call, on: page)
  }
}
