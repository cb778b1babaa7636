/// A step of a scene's life cycle, as its notification describes it.
public struct SceneTransition: Sendable, Hashable {
  /// The state before the step.
  public var from: SceneState
  /// The state after the step.
  public var to: SceneState
  /// The cause of the step.
  public var cause: LifecycleCause
  /// The time of the step by the application's clock, counted from the creation of the application.
  public var instant: Duration
}
