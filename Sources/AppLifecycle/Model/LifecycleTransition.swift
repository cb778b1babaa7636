/// A step of the life cycle, as its notification describes it.
public struct LifecycleTransition: Sendable, Hashable {
  /// A time away from the active state.
  ///
  /// It tells a component whether the application was only interrupted, or in the background, or suspended.
  public struct Excursion: Sendable, Hashable {
    /// The instant at which the application left the active state, or, if it was not active since its launch, entered
    /// the background.
    package var began: Duration
    /// The state farthest from active that the application has reached: inactive, background or suspended.
    public var deepestState: ApplicationState
    /// The time since the excursion began, by the application's clock.
    ///
    /// The default clock stands still while the machine sleeps. To compare dates, note the date at the beginning.
    public var length: Duration
  }

  /// The state before the step.
  public var from: ApplicationState
  /// The state after the step; equal to `from` if the step does not change the state.
  public var to: ApplicationState
  /// The cause of the step.
  public var cause: LifecycleCause
  /// The time of the step: the `offset` of an instant of the application's ``Application/clock``.
  public var instant: Duration
  /// The time away from the active state that this step begins, belongs to, or ends.
  ///
  /// A launch into the background begins one. After any other launch it is nil until the application first resigns
  /// active or enters the background.
  public var excursion: Excursion?
}
