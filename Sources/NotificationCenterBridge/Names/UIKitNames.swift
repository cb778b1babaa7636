// Where UIKit is, it has these names itself.
#if !canImport(UIKit)
  public import Foundation

  /// The names of UIKit's notifications of the application, spelled as UIKit has them, where there is no UIKit.
  ///
  /// A file that observes them compiles unchanged, but for its imports:
  ///
  ///     #if canImport(UIKit)
  ///       import UIKit
  ///     #else
  ///       import Foundation
  ///       import NotificationCenterBridge
  ///     #endif
  ///
  /// Only the names are here: not `UIApplication.shared`, nor what it can tell.
  ///
  /// They are posted by ``NotificationCenterBridge/postLifecycle()``. A type of this name in your own module goes before this one.
  public enum UIApplication {
    /// The launch is complete.
    public static let didFinishLaunchingNotification = Notification.Name("UIApplicationDidFinishLaunchingNotification")
    /// The application receives events.
    public static let didBecomeActiveNotification = Notification.Name("UIApplicationDidBecomeActiveNotification")
    /// The application is about to stop receiving events.
    public static let willResignActiveNotification = Notification.Name("UIApplicationWillResignActiveNotification")
    /// The application has left the user's sight.
    public static let didEnterBackgroundNotification = Notification.Name("UIApplicationDidEnterBackgroundNotification")
    /// The application is about to come into the user's sight.
    public static let willEnterForegroundNotification = Notification.Name(
      "UIApplicationWillEnterForegroundNotification")
    /// The application is about to end.
    public static let willTerminateNotification = Notification.Name("UIApplicationWillTerminateNotification")
    /// Memory is short.
    public static let didReceiveMemoryWarningNotification = Notification.Name(
      "UIApplicationDidReceiveMemoryWarningNotification")
    /// The date, the clock or the time zone changed.
    public static let significantTimeChangeNotification = Notification.Name(
      "UIApplicationSignificantTimeChangeNotification")
    /// Protected files are about to become unreadable; the value has no suffix, as on the platform.
    public static let protectedDataWillBecomeUnavailableNotification = Notification.Name(
      "UIApplicationProtectedDataWillBecomeUnavailable")
    /// Protected files are readable again; the value has no suffix, as on the platform.
    public static let protectedDataDidBecomeAvailableNotification = Notification.Name(
      "UIApplicationProtectedDataDidBecomeAvailable")
  }

  /// The names of UIKit's notifications of scenes, spelled as UIKit has them, where there is no UIKit; see ``UIApplication``.
  public enum UIScene {
    /// The scene is about to be connected.
    public static let willConnectNotification = Notification.Name("UISceneWillConnectNotification")
    /// The scene is about to come into the user's sight.
    public static let willEnterForegroundNotification = Notification.Name("UISceneWillEnterForegroundNotification")
    /// The scene receives events.
    public static let didActivateNotification = Notification.Name("UISceneDidActivateNotification")
    /// The scene is about to stop receiving events.
    public static let willDeactivateNotification = Notification.Name("UISceneWillDeactivateNotification")
    /// The scene has left the user's sight.
    public static let didEnterBackgroundNotification = Notification.Name("UISceneDidEnterBackgroundNotification")
    /// The scene was disconnected.
    public static let didDisconnectNotification = Notification.Name("UISceneDidDisconnectNotification")
  }
#endif
