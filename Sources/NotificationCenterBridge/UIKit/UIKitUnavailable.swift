// What UIKit has and this package cannot have, as far as code that follows the life cycle uses it: a message of the
// compiler says what to write instead.
#if !canImport(UIKit)
  public import AppLifecycle
  public import Foundation

  // The methods are never called, because no code that calls them compiles.

  extension Application {
    /// Opens a URL on the platform.
    @available(*, unavailable, message: "no system opens URLs here; run a program that does, such as xdg-open")
    public func open(
      _ url: URL, options: [String: Any] = [:], completionHandler: (@MainActor @Sendable (Bool) -> Void)? = nil
    ) {}
    /// Answers on the platform whether an application opens a URL.
    @available(*, unavailable, message: "no system opens URLs here; look for a program that does, such as xdg-open")
    public func canOpenURL(_ url: URL) -> Bool { false }
    /// The windows on the platform.
    @available(*, unavailable, message: "there are no windows here; connectedScenes has the scenes")
    public var windows: [UIWindow] { [] }
    /// The window with the keyboard focus on the platform.
    @available(*, unavailable, message: "there are no windows here; a scene has the focus if its hasFocus is true")
    public var keyWindow: UIWindow? { nil }
    /// The frame of the status bar on the platform.
    @available(*, unavailable, message: "there is no status bar here; leave the line out")
    public var statusBarFrame: CGRect { .zero }
    /// Whether the device stays awake on the platform.
    @available(*, unavailable, message: "no idle timer runs here; leave the line out")
    public var isIdleTimerDisabled: Bool {
      get { false }
      set {}
    }
    /// The number on the icon on the platform.
    @available(*, unavailable, message: "there is no icon here; leave the line out")
    public var applicationIconBadgeNumber: Int {
      get { 0 }
      set {}
    }
    /// Asks for remote notifications on the platform.
    @available(
      *, unavailable,
      message: "no service delivers remote notifications here; hold a connection with manage(_:while:) instead"
    )
    public func registerForRemoteNotifications() {}
    /// Whether remote notifications are delivered on the platform.
    @available(*, unavailable, message: "no service delivers remote notifications here; leave the line out")
    public var isRegisteredForRemoteNotifications: Bool { false }
    /// Asks for launches to fetch on the platform.
    @available(
      *, unavailable,
      message: "nothing launches a program to fetch here; use a timer of the service manager, or beginBackgroundMode()"
    )
    public func setMinimumBackgroundFetchInterval(_ interval: TimeInterval) {}
    /// Sends an action along the responders on the platform.
    @available(*, unavailable, message: "there are no responders here; call the method")
    public func sendAction(_ action: Any, to target: Any?, from sender: Any?, for event: Any?) -> Bool { false }
  }

  extension Application.Scene {
    /// The windows of the scene on the platform.
    @available(*, unavailable, message: "there are no windows here; the scene itself is the window")
    public var windows: [UIWindow] { [] }
    /// The window with the keyboard focus on the platform.
    @available(*, unavailable, message: "there are no windows here; the scene has the focus if hasFocus is true")
    public var keyWindow: UIWindow? { nil }
  }

  /// The result of a fetch on the platform.
  @available(
    *, unavailable,
    message: "nothing launches a program to fetch here; use a timer of the service manager, or beginBackgroundMode()"
  )
  public enum UIBackgroundFetchResult {}

  /// What launches the application for its tasks on the platform.
  @available(
    *, unavailable,
    message: "nothing launches a program for tasks here; use a timer of the service manager, or beginBackgroundMode()"
  )
  public enum BGTaskScheduler {}

  /// The name of a scene's delegate on the platform.
  @available(*, unavailable, message: "implement application(_:delegateFor:), which returns the scene's delegate")
  public enum UISceneConfiguration {}

  /// A window on the platform.
  @available(*, unavailable, message: "there are no windows here; UIScene is what the life cycle knows of a window")
  public enum UIWindow {}

  /// The device on the platform.
  @available(*, unavailable, message: "ask ProcessInfo.processInfo for the names and the version of the system")
  public enum UIDevice {}

  /// An object in the chain of responders on the platform.
  @available(*, unavailable, message: "there are no responders here; write NSObject, or leave the superclass out")
  public class UIResponder {}

  /// The screen on the platform.
  @available(*, unavailable, message: "there is no screen of pixels here; leave the line out")
  public enum UIScreen {}
#endif
