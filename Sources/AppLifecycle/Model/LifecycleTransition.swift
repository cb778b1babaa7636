/// A step from one state to the next, as its notification tells it.
public struct LifecycleTransition: Sendable, Hashable {
  /// How far the application was out of the foreground, and for how long.
  public struct Excursion: Sendable, Hashable {
    /// When the application left the foreground.
    public var began: Duration
    /// Whether it was suspended, not only in the background.
    public var reachedSuspended: Bool
    /// How long it has lasted by now.
    public var length: Duration
  }

  /// The state before the step.
  public var from: ApplicationState
  /// The state after it; equal to `from` where the step changes no state.
  public var to: ApplicationState
  /// What led to it.
  public var cause: LifecycleCause
  /// When it happened, since the application's clock was first read.
  public var instant: Duration
  /// The stay outside the foreground that this step ends or that is under way; nil in the foreground.
  public var excursion: Excursion?
}
