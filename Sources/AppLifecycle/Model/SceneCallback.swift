/// A method of ``SceneDelegate``, and the notification that follows it.
public enum SceneCallback: String, Sendable, Hashable, CaseIterable {
  /// The scene is about to be connected; it is unattached, still.
  case willConnect = "sceneWillConnect"
  /// The scene is about to come into the user's sight.
  case willEnterForeground = "sceneWillEnterForeground"
  /// The scene receives events.
  case didBecomeActive = "sceneDidBecomeActive"
  /// The scene is about to stop receiving events.
  case willResignActive = "sceneWillResignActive"
  /// The scene has left the user's sight.
  case didEnterBackground = "sceneDidEnterBackground"
  /// The scene was disconnected.
  case didDisconnect = "sceneDidDisconnect"

  /// The raw name of the notification that follows the call, the platform's own.
  ///
  /// The two of active are named otherwise than their methods, as on the platform.
  public var notificationName: String { row.notificationName ?? rawValue }
}
