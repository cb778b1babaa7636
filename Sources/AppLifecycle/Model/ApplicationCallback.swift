/// A method of ``ApplicationDelegate``, and the notification that follows it.
public enum ApplicationCallback: String, Sendable, Hashable, CaseIterable {
  /// The launch has begun; no notification follows.
  case willFinishLaunching = "applicationWillFinishLaunching"
  /// The launch is complete.
  case didFinishLaunching = "applicationDidFinishLaunching"
  /// The application receives events.
  case didBecomeActive = "applicationDidBecomeActive"
  /// The application is about to stop receiving events.
  case willResignActive = "applicationWillResignActive"
  /// The application has entered the background.
  case didEnterBackground = "applicationDidEnterBackground"
  /// The application is about to enter the foreground.
  case willEnterForeground = "applicationWillEnterForeground"
  /// The delegate is asked whether the application may end; no notification follows.
  case shouldTerminate = "applicationShouldTerminate"
  /// The application is about to end.
  case willTerminate = "applicationWillTerminate"
  /// Memory is low.
  case didReceiveMemoryWarning = "applicationDidReceiveMemoryWarning"
  /// The date, the clock or the time zone changed.
  case significantTimeChange = "applicationSignificantTimeChange"
  /// Protected files are about to become unreadable.
  case protectedDataWillBecomeUnavailable = "applicationProtectedDataWillBecomeUnavailable"
  /// Protected files are readable again.
  case protectedDataDidBecomeAvailable = "applicationProtectedDataDidBecomeAvailable"

  /// The delegate method's name without `application`, its first letter in lower case: `didBecomeActive`.
  public var shortName: String {
    let rest = rawValue.dropFirst("application".count)
    return rest.prefix(1).lowercased() + rest.dropFirst()
  }

  /// The raw name of the platform's notification that follows the delegate call; nil if no notification follows.
  ///
  /// The two names for protected data have no suffix `Notification`, as on the platform.
  package var notificationName: String? { row.notificationName }
}
