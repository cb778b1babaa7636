/// A method of ``SceneDelegate``, and the notification that follows it.
public enum SceneCallback: String, Sendable, Hashable, CaseIterable {
  /// The scene is about to be connected, and is still unattached.
  case willConnect = "sceneWillConnect"
  /// The scene is about to enter the foreground.
  case willEnterForeground = "sceneWillEnterForeground"
  /// The scene receives events.
  case didBecomeActive = "sceneDidBecomeActive"
  /// The scene is about to stop receiving events.
  case willResignActive = "sceneWillResignActive"
  /// The scene has entered the background.
  case didEnterBackground = "sceneDidEnterBackground"
  /// The scene was disconnected.
  case didDisconnect = "sceneDidDisconnect"

  /// The raw name of the platform's notification that follows the call.
  ///
  /// The two notifications of the active state have other names than their methods, as on the platform.
  package var notificationName: String { row.notificationName ?? rawValue }
}
