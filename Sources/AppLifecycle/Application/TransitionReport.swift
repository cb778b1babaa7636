/// What became of an input.
public struct TransitionReport: Sendable, Hashable {
  /// Whether the input was taken.
  public enum Outcome: Sendable, Hashable {
    /// The transition has finished, tear-down included, or its budget has passed.
    case completed
    /// The present state cannot take the input.
    case ignored(reason: IgnoredReason)
    /// The call came from inside a transition's own handler: the input waits until that transition has finished.
    case queued
  }

  /// Whether the input was taken.
  public var outcome: Outcome
  /// What led to the transition.
  public var cause: LifecycleCause
  /// The state before.
  public var from: ApplicationState
  /// The state after.
  public var to: ApplicationState
  /// How long it took, by the application's clock.
  public var duration: Duration
  /// The managed resources that had not been released when the budget had passed, in order of registration.
  public var stragglers: [String]
}

/// Where a transition stands.
package enum TransitionStep: Sendable, Hashable {
  /// The transition of this input is about to begin, or the input to be ignored.
  case willBegin(SystemInput)
  /// It has ended.
  case didEnd(TransitionReport)
}
