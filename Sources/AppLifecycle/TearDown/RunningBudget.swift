internal import PubSub

/// A budget that runs: from the beginning of the first delegate call of a closing step until nothing of it is waited for.
struct RunningBudget {
  /// The callback that has the budget; with scenes, the budget covers the calls of all scenes in the step.
  let callback: ApplicationCallback
  let length: Duration
  let deadline: Duration
  /// The names of the code that overran it.
  var culprits: [String] = []
  /// Whether an observer has used up the time of all other code.
  var wasUsedUpByObserver = false

  init(of callback: ApplicationCallback, _ length: Duration, until deadline: Duration) {
    (self.callback, self.length, self.deadline) = (callback, length, deadline)
  }
}

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
