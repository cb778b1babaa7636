internal import PubSub

/// A post of a closing notification whose asynchronous handlers are waited for.
struct PendingPost {
  let post: ObservedPost
  /// The phase that is kept until they have ended; nil if none is.
  let closes: LifecyclePhase?
  /// When they are late, if no budget that runs says so first.
  let deadline: Duration
  let cause: LifecycleCause
  let page: LedgerKeeper.PageID?
  /// The deadline, where no budget runs that includes it.
  var timer: Deadlines.ID?
}
