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
  /// The application has left the user's sight.
  case didEnterBackground = "applicationDidEnterBackground"
  /// The application is about to come into the user's sight.
  case willEnterForeground = "applicationWillEnterForeground"
  /// The delegate is asked whether the application may end; no notification follows.
  case shouldTerminate = "applicationShouldTerminate"
  /// The application is about to end.
  case willTerminate = "applicationWillTerminate"
  /// Memory is short.
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

  /// The raw name of the notification that follows the delegate call, the platform's own; nil where there is none.
  ///
  /// The two notifications of protected data have no suffix, as on the platform.
  public var notificationName: String? { row.notificationName }
}
