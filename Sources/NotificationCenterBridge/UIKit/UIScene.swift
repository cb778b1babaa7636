// On systems with UIKit, UIKit itself has these names.
#if !canImport(UIKit)
  public import AppLifecycle
  public import Foundation

  /// The scene, with UIKit's name and the members of UIKit that concern the life cycle; see ``UIApplication``.
  public typealias UIScene = Application.Scene

  /// The scene: each scene counts as that of a window, as in nearly every UIKit application.
  public typealias UIWindowScene = Application.Scene

  /// The session of a scene, which outlives the scene.
  ///
  /// Unlike UIKit's, its `userInfo` is never nil, and has text as keys.
  public typealias UISceneSession = SceneSession

  extension Application.Scene {
    /// The scene is about to be connected.
    public nonisolated static let willConnectNotification = Notification.Name("UISceneWillConnectNotification")
    /// The scene is about to enter the foreground.
    public nonisolated static let willEnterForegroundNotification = Notification.Name(
      "UISceneWillEnterForegroundNotification")
    /// The scene has become active, and receives events.
    public nonisolated static let didActivateNotification = Notification.Name("UISceneDidActivateNotification")
    /// The scene is about to stop receiving events.
    public nonisolated static let willDeactivateNotification = Notification.Name("UISceneWillDeactivateNotification")
    /// The scene has entered the background.
    public nonisolated static let didEnterBackgroundNotification = Notification.Name(
      "UISceneDidEnterBackgroundNotification")
    /// The scene was disconnected.
    public nonisolated static let didDisconnectNotification = Notification.Name("UISceneDidDisconnectNotification")

    /// A state of a scene, with UIKit's values.
    public enum ActivationState: Int, Sendable {
      /// Not connected.
      case unattached = -1
      /// In the foreground, and receiving events.
      case foregroundActive = 0
      /// In the foreground, but receiving no events.
      case foregroundInactive = 1
      /// Connected, but not visible.
      case background = 2
    }

    /// The state of the scene, as UIKit reports it.
    @preconcurrency public var activationState: ActivationState {
      switch state {
      case .unattached: .unattached
      case .foregroundActive: .foregroundActive
      case .foregroundInactive: .foregroundInactive
      case .background: .background
      }
    }

    /// What a scene is connected for; empty, because no host passes URLs, activities or notifications.
    public struct ConnectionOptions: Sendable {}
  }

  extension Application.Scene: nonisolated Hashable {
    /// Whether two scenes are the same object.
    ///
    /// - Parameters:
    ///   - left: a scene.
    ///   - right: another scene.
    /// - Returns: whether they are identical.
    public nonisolated static func == (left: Application.Scene, right: Application.Scene) -> Bool { left === right }
    /// Hashes the identity of the scene.
    ///
    /// - Parameter hasher: the hasher.
    public nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  extension SceneSession: nonisolated Hashable {
    /// Whether two sessions are the same object.
    ///
    /// - Parameters:
    ///   - left: a session.
    ///   - right: another session.
    /// - Returns: whether they are identical.
    public nonisolated static func == (left: SceneSession, right: SceneSession) -> Bool { left === right }
    /// Hashes the identity of the session.
    ///
    /// - Parameter hasher: the hasher.
    public nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// The name of the window, which identifies the session among all sessions and processes.
    @preconcurrency public var persistentIdentifier: String { identifier.rawValue }
  }
#endif
