// On systems with UIKit, UIKit itself has these names.
#if !canImport(UIKit)
  public import Foundation

  /// The names of UIKit's application notifications, with UIKit's spelling, for systems without UIKit.
  ///
  /// A file that observes them compiles with no change except its imports:
  ///
  ///     #if canImport(UIKit)
  ///       import UIKit
  ///     #else
  ///       import Foundation
  ///       import NotificationCenterBridge
  ///     #endif
  ///
  /// Only the names exist here, and not `UIApplication.shared` with its properties.
  ///
  /// ``NotificationCenterBridge/postLifecycle()`` posts them. A type with this name in your own module takes
  /// precedence.
  public enum UIApplication {
    /// The launch is complete.
    public static let didFinishLaunchingNotification = Notification.Name("UIApplicationDidFinishLaunchingNotification")
    /// The application has become active, and receives events.
    public static let didBecomeActiveNotification = Notification.Name("UIApplicationDidBecomeActiveNotification")
    /// The application is about to stop receiving events.
    public static let willResignActiveNotification = Notification.Name("UIApplicationWillResignActiveNotification")
    /// The application has entered the background.
    public static let didEnterBackgroundNotification = Notification.Name("UIApplicationDidEnterBackgroundNotification")
    /// The application is about to enter the foreground.
    public static let willEnterForegroundNotification = Notification.Name(
      "UIApplicationWillEnterForegroundNotification")
    /// The application is about to end.
    public static let willTerminateNotification = Notification.Name("UIApplicationWillTerminateNotification")
    /// The system is low on memory.
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

  /// The names of UIKit's scene notifications, with UIKit's spelling, for systems without UIKit; see ``UIApplication``.
  public enum UIScene {
    /// The scene is about to be connected.
    public static let willConnectNotification = Notification.Name("UISceneWillConnectNotification")
    /// The scene is about to enter the foreground.
    public static let willEnterForegroundNotification = Notification.Name("UISceneWillEnterForegroundNotification")
    /// The scene has become active, and receives events.
    public static let didActivateNotification = Notification.Name("UISceneDidActivateNotification")
    /// The scene is about to stop receiving events.
    public static let willDeactivateNotification = Notification.Name("UISceneWillDeactivateNotification")
    /// The scene has entered the background.
    public static let didEnterBackgroundNotification = Notification.Name("UISceneDidEnterBackgroundNotification")
    /// The scene was disconnected.
    public static let didDisconnectNotification = Notification.Name("UISceneDidDisconnectNotification")
  }
#endif
