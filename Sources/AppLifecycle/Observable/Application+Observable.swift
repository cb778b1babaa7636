public import Observation

/// What an application shows of itself.
@MainActor package final class ObservedValues {
  package fileprivate(set) var state = ApplicationState.notRunning
  package fileprivate(set) var deactivationReasons: Set<DeactivationReason> = []
  package fileprivate(set) var launchCause: LifecycleCause?
}

// `Observations { application.state }`, SwiftUI and `withObservationTracking` follow these properties, `resources` and `scenes`.

extension Application: Observable {
  /// The state as callbacks see it: *will…* callbacks run before the new state is committed, *did…* callbacks after.
  ///
  /// Observable.
  public var state: ApplicationState {
    observed.access(self, \.state)
    return present.state
  }

  /// The reasons that keep the application from being active; out of the foreground, those that would.
  ///
  /// Active means empty. Observable.
  public var deactivationReasons: Set<DeactivationReason> {
    observed.access(self, \.deactivationReasons)
    return present.deactivationReasons
  }

  /// Why the application was launched; nil before the first launch.
  ///
  /// Observable.
  public var launchCause: LifecycleCause? {
    observed.access(self, \.launchCause)
    return present.launchCause
  }

  func setState(_ state: ApplicationState) {
    observed.change(self, \.state) { present.state = state }
  }

  func setDeactivationReasons(_ reasons: Set<DeactivationReason>) {
    observed.change(self, \.deactivationReasons) { present.deactivationReasons = reasons }
  }

  /// The manager's own state has changed, and is not held up for observers.
  func resourcesDidChange() { observed.change(self, \.resources) {} }

  func setLaunchCause(_ cause: LifecycleCause) {
    observed.change(self, \.launchCause) { present.launchCause = cause }
  }
}
