/// A step of the life cycle, as its notification tells it.
public struct LifecycleTransition: Sendable, Hashable {
  /// A stay outside of active: what a component asks that wants to know whether it was merely interrupted or truly away.
  public struct Excursion: Sendable, Hashable {
    /// When the application left active, or was launched into the background.
    public var began: Duration
    /// How far it went: inactive, background or suspended.
    public var deepestState: ApplicationState
    /// How long it has lasted by now.
    public var length: Duration
  }

  /// The state before the step.
  public var from: ApplicationState
  /// The state after it; equal to `from` where the step changes no state.
  public var to: ApplicationState
  /// What led to it.
  public var cause: LifecycleCause
  /// When it happened: the `offset` of an instant of the application's ``Application/clock``.
  public var instant: Duration
  /// The stay outside of active that this step begins, is part of, or ends; nil before the application was first active.
  public var excursion: Excursion?
}

/// Follows how far and for how long the application is away from active.
struct ExcursionTracker {
  private var began: Duration?
  private var deepestState = ApplicationState.inactive

  mutating func willBegin(at instant: Duration) { (began, deepestState) = (instant, .inactive) }

  mutating func didCommit(_ state: ApplicationState, at instant: Duration) {
    switch state {
    case .background:
      if began == nil { began = instant }
      if deepestState != .suspended { deepestState = .background }
    case .suspended: deepestState = .suspended
    case .notRunning: end()
    case .inactive, .active: break
    }
  }

  mutating func end() { (began, deepestState) = (nil, .inactive) }

  func present(at instant: Duration) -> LifecycleTransition.Excursion? {
    began.map { .init(began: $0, deepestState: deepestState, length: instant - $0) }
  }
}
