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
  /// The functions through which a host asks the platform about the process, and controls it.
  ///
  /// The defaults suit the platform; a test passes functions of its own.
  public struct Configuration {
    /// Returns whether a launch that has just completed leads to the background.
    ///
    /// The default uses the application's state on UIKit and WatchKit, and whether the application is hidden on AppKit.
    public var launchesInBackground: @MainActor () -> Bool = { false }
    /// Returns whether the device is locked and the application's protected files cannot be read.
    ///
    /// The default on UIKit asks the application; elsewhere the result is false.
    public var dataIsProtected: @MainActor () -> Bool = { false }
    /// Returns the identifier of a scene from the object of its notifications; if it returns nil, the host makes one.
    ///
    /// The default on UIKit is the identifier of the scene's session.
    public var sceneIdentifier: @MainActor (AnyObject) -> SceneIdentifier? = { _ in nil }
    /// Asks the system to let the process run; returns a function that ends the request.
    ///
    /// The argument names the reason, which the system may show.
    ///
    /// The default is a background task on UIKit, and an expiring activity on WatchKit; elsewhere it does nothing.
    public var keepAwake: @MainActor (_ name: String) -> @MainActor () -> Void = { _ in {} }
    /// Waits until a function returns that the process may end, or until a time limit.
    ///
    /// The host calls it inside the platform's last notification; it must let the main actor run. The default runs the
    /// main run loop, and returns after a second if the run loop does no work of the main queue by then.
    public var waitForEnd: @MainActor (_ limit: Duration, _ mayEnd: @MainActor () -> Bool) -> Void = { limit, mayEnd in
      let start = ContinuousClock.now
      let probe = MainQueueProbe()
      while !mayEnd() {
        if !RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.05)) {
          // Inside work of the main queue the run loop returns at once.
          Thread.sleep(forTimeInterval: 0.01)
        }
        let elapsed = start.duration(to: .now)
        if elapsed > limit || elapsed > .seconds(1) && !probe.hasRun { return }
      }
    }
    /// Ends the process with an exit status, after the application has ended by its own order.
    ///
    /// The default is `terminate` on AppKit, which ignores the status, and `exit` on UIKit and WatchKit, where a
    /// program has no other way; elsewhere it does nothing.
    public var endProcess: @MainActor (_ status: Int32) -> Void = { _ in }
    /// The center on which `NSWorkspace` posts; nil for the center of all other notifications.
    public var workspaceCenter: NotificationCenter?

    /// Makes the configuration that suits a platform.
    ///
    /// - Parameter platform: the framework whose notifications the host follows.
    @MainActor public init(_ platform: Platform = .current) {
      #if os(watchOS)
        guard platform == .watchKit else { return }
        launchesInBackground = { WKApplication.shared().applicationState == .background }
        endProcess = { exit($0) }
        keepAwake = { name in
          let isOver = DispatchSemaphore(value: 0)
          ProcessInfo.processInfo.performExpiringActivity(withReason: name) { isExpiring in
            // The activity lasts until this closure returns.
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
