package import Foundation
import Scheduling

// As much of UIKit as components touch that follow the life cycle: names, isolation, types and results as in the public
// documentation of iOS. Not UIKit: nothing happens by itself, and a test plays the system with `UIKitSystem`.

/// The application, of which there is one in a process.
@preconcurrency @MainActor package final class UIApplication {
  package enum State: Int, Sendable {
    case active = 0
    case inactive = 1
    case background = 2
  }

  package struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
    package static let remoteNotification = Self(rawValue: "UIApplicationLaunchOptionsRemoteNotificationKey")
    package static let url = Self(rawValue: "UIApplicationLaunchOptionsURLKey")
  }

  package nonisolated static let didFinishLaunchingNotification = Notification.Name(
    "UIApplicationDidFinishLaunchingNotification")
  package nonisolated static let didBecomeActiveNotification = Notification.Name(
    "UIApplicationDidBecomeActiveNotification")
  package nonisolated static let willResignActiveNotification = Notification.Name(
    "UIApplicationWillResignActiveNotification")
  package nonisolated static let didEnterBackgroundNotification = Notification.Name(
    "UIApplicationDidEnterBackgroundNotification")
  package nonisolated static let willEnterForegroundNotification = Notification.Name(
    "UIApplicationWillEnterForegroundNotification")
  package nonisolated static let willTerminateNotification = Notification.Name(
    "UIApplicationWillTerminateNotification")
  package nonisolated static let didReceiveMemoryWarningNotification = Notification.Name(
    "UIApplicationDidReceiveMemoryWarningNotification")
  package nonisolated static let significantTimeChangeNotification = Notification.Name(
    "UIApplicationSignificantTimeChangeNotification")
  package nonisolated static let protectedDataWillBecomeUnavailableNotification = Notification.Name(
    "UIApplicationProtectedDataWillBecomeUnavailable")
  package nonisolated static let protectedDataDidBecomeAvailableNotification = Notification.Name(
    "UIApplicationProtectedDataDidBecomeAvailable")

  package static let shared = UIApplication()

  package internal(set) var applicationState = State.inactive
  package internal(set) var connectedScenes: Set<UIScene> = []
  package internal(set) var isProtectedDataAvailable = true
  package internal(set) var backgroundTimeRemaining = TimeInterval.greatestFiniteMagnitude
  nonisolated let tasks = Guarded(BackgroundTasks())

  package nonisolated func beginBackgroundTask(
    expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
  ) -> UIBackgroundTaskIdentifier { beginBackgroundTask(withName: nil, expirationHandler: handler) }

  package nonisolated func beginBackgroundTask(
    withName taskName: String?, expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
  ) -> UIBackgroundTaskIdentifier {
    tasks.withLock { $0.begin(taskName ?? "unnamed", handler) }
  }

  package nonisolated func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {
    tasks.withLock { $0.end(identifier) }
  }
}

package struct UIBackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
  package let rawValue: Int
  package init(rawValue: Int) { self.rawValue = rawValue }
  package static let invalid = Self(rawValue: 0)
}

/// The background tasks that are open, by the order in which they began.
struct BackgroundTasks {
  struct OpenTask {
    let identifier: UIBackgroundTaskIdentifier
    let name: String
    var handler: (@MainActor @Sendable () -> Void)?
  }

  private(set) var open: [OpenTask] = []
  private var count = 0

  mutating func begin(_ name: String, _ handler: (@MainActor @Sendable () -> Void)?) -> UIBackgroundTaskIdentifier {
    count += 1
    let identifier = UIBackgroundTaskIdentifier(rawValue: count)
    open.append(OpenTask(identifier: identifier, name: name, handler: handler))
    return identifier
  }

  mutating func end(_ identifier: UIBackgroundTaskIdentifier) { open.removeAll { $0.identifier == identifier } }
}
