package import Foundation

/// A scene, which a test connects with `UIKitSystem`.
@preconcurrency @MainActor package class UIScene: nonisolated Hashable {
  package enum ActivationState: Int, Sendable {
    case unattached = -1
    case foregroundActive = 0
    case foregroundInactive = 1
    case background = 2
  }

  package nonisolated static let willConnectNotification = Notification.Name("UISceneWillConnectNotification")
  package nonisolated static let willEnterForegroundNotification = Notification.Name(
    "UISceneWillEnterForegroundNotification")
  package nonisolated static let didActivateNotification = Notification.Name("UISceneDidActivateNotification")
  package nonisolated static let willDeactivateNotification = Notification.Name("UISceneWillDeactivateNotification")
  package nonisolated static let didEnterBackgroundNotification = Notification.Name(
    "UISceneDidEnterBackgroundNotification")
  package nonisolated static let didDisconnectNotification = Notification.Name("UISceneDidDisconnectNotification")

  package let session: UISceneSession
  package internal(set) var activationState = ActivationState.unattached

  init(_ session: UISceneSession) {
    self.session = session
    session.scene = self
  }

  package nonisolated static func == (left: UIScene, right: UIScene) -> Bool { left === right }
  package nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The scene of a window.
package final class UIWindowScene: UIScene {}

/// The session of a scene.
@preconcurrency @MainActor package final class UISceneSession {
  package let persistentIdentifier: String
  package internal(set) weak var scene: UIScene?

  init(_ persistentIdentifier: String) { self.persistentIdentifier = persistentIdentifier }
}
