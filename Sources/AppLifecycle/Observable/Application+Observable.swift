public import Observation

/// The observable values of an application.
@MainActor package final class ObservableValues {
  nonisolated init() {}

  package fileprivate(set) var state = ApplicationState.notRunning
  package fileprivate(set) var deactivationReasons: Set<DeactivationReason> = []
  package fileprivate(set) var launchCause: LifecycleCause?
  package fileprivate(set) var isProtectedDataAvailable = true
  /// Notifies Observation of the properties that the program reads, and of their changes.
  nonisolated let observed = LazyObservationRegistrar()
}

// `Observations { application.state }`, SwiftUI and `withObservationTracking` can observe these properties, and also
// `resources` and `scenes`.

extension Application: Observable {
  /// The state of the application; it changes after *will…* callbacks and before *did…* callbacks.
  ///
  /// ``ApplicationDelegate/applicationWillFinishLaunching(_:)`` is the exception: the state has changed before it.
  /// Observable.
  public var state: ApplicationState {
    present.observed.access(self, \.state)
    return present.state
  }

  /// The reasons that keep the application from being active, or, in the background, would keep it from being active in
  /// the foreground.
  ///
  /// The set is empty while the application is active, except in the delegate calls and handlers of
  /// ``WillResignActive`` and ``Application/Scene/WillDeactivate``: there it has the reason of the interruption, and is empty if
  /// the user leaves or locks the screen. Observable.
  ///
  /// The reason `focusLost` of scenes is in the set only while a scene is in the foreground. In the background the set
  /// changes without a notification. A component that must know of a call there observes it:
  ///
  ///     application.task { [weak self, unowned application] in
  ///       for await reasons in Observations({ application.deactivationReasons }) {
  ///         self?.isInterrupted = reasons.contains(.call)
  ///       }
  ///     }
  public var deactivationReasons: Set<DeactivationReason> {
    present.observed.access(self, \.deactivationReasons)
    return present.deactivationReasons
  }

  /// The cause of the latest launch; nil before the first launch.
  ///
  /// Observable.
  public var launchCause: LifecycleCause? {
    present.observed.access(self, \.launchCause)
    return present.launchCause
  }

  /// Whether protected files are readable; false while a screen lock with a pass code makes them unreadable.
  ///
  /// It changes after the handlers of ``ProtectedDataWillBecomeUnavailable`` and before those of
  /// ``ProtectedDataDidBecomeAvailable``. It is also right where these are not posted: at a launch into the background
  /// on a locked device, and while the application is suspended or not running. A host that never sends
  /// ``SystemInput/setPasscode(_:)`` leaves it true. Observable.
  @preconcurrency public var isProtectedDataAvailable: Bool {
    present.observed.access(self, \.isProtectedDataAvailable)
    return present.isProtectedDataAvailable
  }

  func setState(_ state: ApplicationState) {
    present.observed.change(self, \.state) { present.state = state }
  }

  func setDeactivationReasons(_ reasons: Set<DeactivationReason>) {
    present.observed.change(self, \.deactivationReasons) { present.deactivationReasons = reasons }
  }

  func setIsProtectedDataAvailable(_ isAvailable: Bool) {
    guard present.isProtectedDataAvailable != isAvailable else { return }
    present.observed.change(self, \.isProtectedDataAvailable) { present.isProtectedDataAvailable = isAvailable }
  }

  /// Notifies observers of ``resources``; the resource manager has already made the change.
  func resourcesDidChange() { present.observed.change(self, \.resources) {} }

  func setLaunchCause(_ cause: LifecycleCause) {
    present.observed.change(self, \.launchCause) { present.launchCause = cause }
  }
}

extension Application.Scene: Observable {}

extension ManagedResource: Observable {}
