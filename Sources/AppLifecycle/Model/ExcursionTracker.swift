/// Tracks the excursions of an application from the active state.
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
