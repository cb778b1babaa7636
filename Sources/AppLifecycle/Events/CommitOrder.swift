/// The order of a callback and the change of state: *will…* callbacks come before the change, *did…* callbacks after
/// it.
package enum CommitOrder: Sendable {
  case callbackFirst
  case commitFirst
  /// The callback belongs to no change of state.
  case noCommit
}

/// The effect of a callback on the phases, once its synchronous handlers have run.
enum PhaseChange {
  case opens(LifecyclePhase)
  /// The tear-down of the phase waits for the asynchronous handlers of the notification.
  case closes(LifecyclePhase)
  case none

  var closing: LifecyclePhase? { if case .closes(let phase) = self { phase } else { nil } }
}
