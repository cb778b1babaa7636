public import AppLifecycle
public import Foundation

#if canImport(UIKit) && !os(watchOS)
  import UIKit
#elseif canImport(AppKit)
  import AppKit
#endif

extension NotificationCenterHost {
  /// How a host deals with its process.
  ///
  /// What suits the platform is the default; a test gives functions of its own.
  public struct Configuration {
    /// Whether a launch that is just complete leads into the background.
    ///
    /// By default, on UIKit the application's state says so, on AppKit whether it is hidden.
    public var launchesInBackground: @MainActor () -> Bool = { false }
    /// Whether the device is locked and the application's protected files cannot be read.
    ///
    /// By default on UIKit the application says so.
    public var dataIsProtected: @MainActor () -> Bool = { false }
    /// The name of a scene, given the object of its notifications; nil for one that the host makes up.
    ///
    /// By default on UIKit that of its session.
    public var sceneIdentifier: @MainActor (AnyObject) -> SceneIdentifier? = { _ in nil }
    /// Asks the system to let the process run, for a reason that it may show; returns a function that ends that.
    ///
    /// By default on UIKit a background task.
    public var keepAwake: @MainActor (_ name: String) -> @MainActor () -> Void = { _ in {} }
    /// Returns once a function says that the process may end.
    ///
    /// It is called inside the platform's last notification, and must let the main actor work. By default it runs the main run loop.
    public var waitForEnd: @MainActor (_ mayEnd: @MainActor () -> Bool) -> Void = { mayEnd in
      while !mayEnd() { _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.05)) }
    }
    /// Where `NSWorkspace` posts; nil for the center of all other notifications.
    public var workspaceCenter: NotificationCenter?

    /// What suits a platform.
    @MainActor public init(_ platform: Platform = .current) {
      #if canImport(UIKit) && !os(watchOS)
        guard platform == .uiKit else { return }
        launchesInBackground = { UIApplication.shared.applicationState == .background }
        dataIsProtected = { !UIApplication.shared.isProtectedDataAvailable }
        sceneIdentifier = { scene in
          (scene as? UIScene).map { SceneIdentifier(rawValue: $0.session.persistentIdentifier) }
        }
        keepAwake = { name in
          var task = UIBackgroundTaskIdentifier.invalid
          let end = { @MainActor in
            if task != .invalid { UIApplication.shared.endBackgroundTask(task) }
            task = .invalid
          }
          task = UIApplication.shared.beginBackgroundTask(withName: name, expirationHandler: end)
          return end
        }
      #elseif canImport(AppKit)
        guard platform == .appKit else { return }
        launchesInBackground = { NSApplication.shared.isHidden }
        workspaceCenter = NSWorkspace.shared.notificationCenter
      #endif
    }
  }
}
