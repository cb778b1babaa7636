internal import PubSub
internal import Scheduling

/// A post of a closing notification, for whose asynchronous handlers the application waits.
struct PendingPost {
  let post: MeasuredPost
  /// The phase that stays open until the handlers have ended.
  let closes: LifecyclePhase
  /// The time after which the handlers are late if no budget runs.
  let deadline: Duration
  let cause: LifecycleCause
  let page: ApplicationLedger.PageID?
  /// The timer for ``deadline`` while no budget runs.
  var timer: Deadlines.ID?
}
