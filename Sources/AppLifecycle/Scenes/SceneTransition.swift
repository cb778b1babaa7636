/// A step of a scene's life cycle, as its notification tells it.
public struct SceneTransition: Sendable, Hashable {
  /// The state before the step.
  public var from: SceneState
  /// The state after it.
  public var to: SceneState
  /// What led to it.
  public var cause: LifecycleCause
  /// When it happened, since the application's clock was first read.
  public var instant: Duration
}
