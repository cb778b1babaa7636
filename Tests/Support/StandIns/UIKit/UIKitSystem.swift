import Foundation
import Scheduling

/// Plays iOS for the one application of the process; not of UIKit.
///
/// Each step changes the states and posts the notifications, in the order of iOS.
///
/// The notifications go to `NotificationCenter.default`, as UIKit's do, so tests that use it must not run in parallel.
@MainActor package enum UIKitSystem {
  private static var scene: UIWindowScene?
  private static var application: UIApplication { .shared }

  /// Begins a process, with a window's scene or without scenes; what the process before has left is gone.
  package static func launch(scene name: String? = nil) {
    application.tasks.withLock { $0 = BackgroundTasks() }
    (application.applicationState, application.isProtectedDataAvailable) = (name == nil ? .inactive : .background, true)
    application.backgroundTimeRemaining = .greatestFiniteMagnitude
    scene = name.map { UIWindowScene(UISceneSession($0)) }
    application.connectedScenes = Set([scene].compactMap { $0 })
    post(UIApplication.didFinishLaunchingNotification)
    if scene != nil {
      post(ofScene: UIScene.willConnectNotification)
      willEnterForeground()
    }
    becomeActive()
  }

  /// The application becomes active.
  package static func becomeActive() {
    setStates(.active, .foregroundActive)
    post(ofScene: UIScene.didActivateNotification)
    post(UIApplication.didBecomeActiveNotification)
  }

  /// The application is interrupted, or about to leave the screen.
  package static func resignActive() {
    post(ofScene: UIScene.willDeactivateNotification)
    post(UIApplication.willResignActiveNotification)
    setStates(.inactive, .foregroundInactive)
  }

  /// The user leaves the application.
  package static func leave() {
    if application.applicationState == .active { resignActive() }
    setStates(.background, .background)
    application.backgroundTimeRemaining = 30
    post(ofScene: UIScene.didEnterBackgroundNotification)
    post(UIApplication.didEnterBackgroundNotification)
  }

  /// The user returns to the application.
  package static func comeBack() {
    application.backgroundTimeRemaining = .greatestFiniteMagnitude
    willEnterForeground()
    becomeActive()
  }

  /// The user ends the application in the application switcher, while it runs.
  package static func terminate() {
    if application.applicationState != .background { leave() }
    post(UIApplication.willTerminateNotification)
  }

  /// The system is low on memory.
  package static func warnOfMemory() { post(UIApplication.didReceiveMemoryWarningNotification) }

  // MARK: Background tasks

  /// The names of the open background tasks, in the order in which they began.
  package static var openBackgroundTasks: [String] { application.tasks.withLock { $0.open.map(\.name) } }

  /// Calls the expiration handlers of the open background tasks.
  ///
  /// - Returns: whether they have ended all tasks; if not, iOS ends the process.
  package static func expireBackgroundTasks() -> Bool {
    let expired = application.tasks.withLock { $0.open }
    for task in expired { task.handler?() }
    let identifiers = Set(expired.map(\.identifier))
    return application.tasks.withLock { tasks in !tasks.open.contains { identifiers.contains($0.identifier) } }
  }

  // MARK: States and notifications

  private static func setStates(_ state: UIApplication.State, _ sceneState: UIScene.ActivationState) {
    application.applicationState = state
    scene?.activationState = sceneState
  }

  private static func willEnterForeground() {
    post(ofScene: UIScene.willEnterForegroundNotification)
    post(UIApplication.willEnterForegroundNotification)
    setStates(.inactive, .foregroundInactive)
  }

  private static func post(_ name: Notification.Name) {
    NotificationCenter.default.post(name: name, object: application)
  }

  private static func post(ofScene name: Notification.Name) {
    if let scene { NotificationCenter.default.post(name: name, object: scene) }
  }
}
