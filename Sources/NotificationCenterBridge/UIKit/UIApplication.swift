// On systems with UIKit, UIKit itself has these names.
#if !canImport(UIKit)
  public import AppLifecycle
  public import Foundation

  /// The application, with UIKit's name and the members of UIKit that concern the life cycle, for systems without UIKit.
  ///
  /// A component that follows the life cycle compiles with no change except its imports:
  ///
  ///     #if canImport(UIKit)
  ///       import UIKit
  ///     #else
  ///       import Foundation
  ///       import NotificationCenterBridge
  ///     #endif
  ///
  /// It is the object of each notification that ``NotificationCenterBridge/postLifecycle(servicesEnterBackground:)`` posts, and `UIApplication.shared` is
  /// the application of the program. Members of UIKit that cannot exist here are unavailable, and the message says what to
  /// write instead. The article *Coming from UIKit* lists all of them.
  ///
  /// A type with this name in your own module takes precedence.
  public typealias UIApplication = Application

  // MARK: - The names of the notifications

  extension Application {
    /// The launch is complete.
    ///
    /// UIKit's launch options are missing from `userInfo`, because no host passes any.
    public nonisolated static let didFinishLaunchingNotification = Notification.Name(
      "UIApplicationDidFinishLaunchingNotification")
    /// The application has become active, and receives events.
    public nonisolated static let didBecomeActiveNotification = Notification.Name(
      "UIApplicationDidBecomeActiveNotification")
    /// The application is about to stop receiving events.
    public nonisolated static let willResignActiveNotification = Notification.Name(
      "UIApplicationWillResignActiveNotification")
    /// The application has entered the background.
    public nonisolated static let didEnterBackgroundNotification = Notification.Name(
      "UIApplicationDidEnterBackgroundNotification")
    /// The application is about to enter the foreground.
    public nonisolated static let willEnterForegroundNotification = Notification.Name(
      "UIApplicationWillEnterForegroundNotification")
    /// The application is about to end.
    public nonisolated static let willTerminateNotification = Notification.Name(
      "UIApplicationWillTerminateNotification")
    /// The system is low on memory.
    public nonisolated static let didReceiveMemoryWarningNotification = Notification.Name(
      "UIApplicationDidReceiveMemoryWarningNotification")
    /// The date, the clock or the time zone changed.
    public nonisolated static let significantTimeChangeNotification = Notification.Name(
      "UIApplicationSignificantTimeChangeNotification")
    /// Protected files are about to become unreadable; the value has no suffix, as on the platform.
    public nonisolated static let protectedDataWillBecomeUnavailableNotification = Notification.Name(
      "UIApplicationProtectedDataWillBecomeUnavailable")
    /// Protected files are readable again; the value has no suffix, as on the platform.
    public nonisolated static let protectedDataDidBecomeAvailableNotification = Notification.Name(
      "UIApplicationProtectedDataDidBecomeAvailable")
    /// Never posted: ``backgroundRefreshStatus`` does not change.
    public nonisolated static let backgroundRefreshStatusDidChangeNotification = Notification.Name(
      "UIApplicationBackgroundRefreshStatusDidChangeNotification")
  }

  // MARK: - The state

  extension Application {
    /// A state that a UIKit application can observe about itself.
    ///
    /// `Application.state` has two more: suspended and not running.
    public enum State: Int, Sendable {
      /// In the foreground, and receiving events.
      case active = 0
      /// In the foreground, but receiving no events.
      case inactive = 1
      /// Not visible.
      case background = 2
    }

    /// The state of the application, as UIKit reports it.
    ///
    /// Suspended is background. An application that was never launched is inactive, as one whose launch has just begun;
    /// an application that has ended is in the background.
    @preconcurrency public var applicationState: State {
      switch state {
      case .active: .active
      case .inactive: .inactive
      case .background, .suspended: .background
      case .notRunning: launchCause == nil ? .inactive : .background
      }
    }

    /// The scenes that are connected; empty in the life cycle without scenes.
    ///
    /// - Complexity: linear in the number of scenes.
    @preconcurrency public var connectedScenes: Set<Application.Scene> { Set(scenes) }

    /// Whether the application follows the life cycle with scenes.
    @preconcurrency public var supportsMultipleScenes: Bool { configuration.profile == .scenes }

    /// Whether the system may launch the application into the background; always available, because no user can deny it.
    @preconcurrency public var backgroundRefreshStatus: UIBackgroundRefreshStatus { .available }
  }

  /// Whether the system may launch the application into the background.
  public enum UIBackgroundRefreshStatus: Int, Sendable {
    /// Another authority has denied it; does not occur here.
    case restricted = 0
    /// The user has denied it; does not occur here.
    case denied = 1
    /// The system may launch the application into the background.
    case available = 2
  }

  // MARK: - Launch options

  extension Application {
    /// The key of a reason for the launch, in UIKit's launch options.
    ///
    /// No host passes launch options; `Application.launchCause` is the reason for the launch.
    public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
      /// The text of the key.
      public let rawValue: String

      /// Makes a key from its text.
      ///
      /// - Parameter rawValue: the text of the key.
      public init(rawValue: String) { self.rawValue = rawValue }

      /// The URL to open.
      public static let url = Self(rawValue: "UIApplicationLaunchOptionsURLKey")
      /// The application that asked for the launch.
      public static let sourceApplication = Self(rawValue: "UIApplicationLaunchOptionsSourceApplicationKey")
      /// The contents of a remote notification.
      public static let remoteNotification = Self(rawValue: "UIApplicationLaunchOptionsRemoteNotificationKey")
      /// The launch follows an event of the position.
      public static let location = Self(rawValue: "UIApplicationLaunchOptionsLocationKey")
      /// The shortcut that the user has chosen.
      public static let shortcutItem = Self(rawValue: "UIApplicationLaunchOptionsShortcutItemKey")
      /// The activity of the user to continue.
      public static let userActivityDictionary = Self(rawValue: "UIApplicationLaunchOptionsUserActivityDictionaryKey")
    }
  }
#endif
