public import AppLifecycle
public import Foundation

#if os(watchOS)
  import WatchKit
#elseif canImport(UIKit)
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
    /// Returns once a function says that the process may end, or when a time is up.
    ///
    /// It is called inside the platform's last notification, and must let the main actor work. By default it runs the main run loop, and
    /// gives up after a second in which that does no work of the main queue.
    public var waitForEnd: @MainActor (_ limit: Duration, _ mayEnd: @MainActor () -> Bool) -> Void = { limit, mayEnd in
      let start = ContinuousClock.now
      let probe = Probe()
      DispatchQueue.main.async { probe.hasRun = true }
      while !mayEnd() {
        _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.05))
        let elapsed = start.duration(to: .now)
        if elapsed > limit || elapsed > .seconds(1) && !probe.hasRun { return }
      }
    }
    /// Ends the process, with an exit status, as the application has ended by its own order.
    ///
    /// By default on AppKit `terminate`; on UIKit and WatchKit, where a program has no other way, `exit`; elsewhere nothing.
    public var endProcess: @MainActor (_ status: Int32) -> Void = { _ in }
    /// Where `NSWorkspace` posts; nil for the center of all other notifications.
    public var workspaceCenter: NotificationCenter?

    /// What suits a platform.
    @MainActor public init(_ platform: Platform = .current) {
      #if os(watchOS)
        guard platform == .watchKit else { return }
        launchesInBackground = { WKApplication.shared().applicationState == .background }
        endProcess = { exit($0) }
        keepAwake = { name in
          let isOver = DispatchSemaphore(value: 0)
          ProcessInfo.processInfo.performExpiringActivity(withReason: name) { isExpiring in
            // The activity lasts while this call does.
            if isExpiring { isOver.signal() } else { isOver.wait() }
          }
          return { isOver.signal() }
        }
      #elseif canImport(UIKit)
        guard platform == .uiKit else { return }
        endProcess = { exit($0) }
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
        endProcess = { _ in NSApplication.shared.terminate(nil) }
        workspaceCenter = NSWorkspace.shared.notificationCenter
      #endif
    }
  }
}

@MainActor private final class Probe {
  var hasRun = false
}
