import AppLifecycle

/// The meaning of a notification of Apple's systems.
enum PlatformEvent: Sendable, Hashable {
  /// A callback of the application.
  case application(ApplicationCallback)
  /// A callback of a scene.
  case scene(SceneCallback)
  /// From now on, something hides the application.
  case outOfSight(Hiding)
  /// The application is no longer hidden for this reason.
  case inSight(Hiding)

  /// A reason for which an AppKit application is not visible.
  enum Hiding: Sendable, Hashable {
    /// The user has hidden the application.
    case hidden
    /// The displays sleep.
    case screensAsleep
    /// Another user's session has the screen.
    case sessionInactive
    /// The machine sleeps.
    case machineAsleep
  }
}

extension NotificationCenterHost.Platform {
  /// The notifications of the application, by their names.
  ///
  /// The names are from the headers of UIKit, AppKit and WatchKit, whose constants have their own names as values. The
  /// two names for protected data have no suffix.
  var events: [String: PlatformEvent] {
    switch self {
    case .uiKit:
      var events: [String: PlatformEvent] = [:]
      for callback in ApplicationCallback.allCases {
        if let name = callback.notificationName { events[name] = .application(callback) }
      }
      for callback in SceneCallback.allCases { events[callback.notificationName] = .scene(callback) }
      return events
    case .appKit:
      return Self.steps(
        of: "NSApplication", [.didFinishLaunching, .didBecomeActive, .willResignActive, .willTerminate]
      ).merging(Self.changesOfTime) { $1 }.merging([
        "NSApplicationDidHideNotification": .outOfSight(.hidden),
        "NSApplicationDidUnhideNotification": .inSight(.hidden),
      ]) { $1 }
    case .watchKit:
      return Self.steps(
        of: "WKApplication",
        [.didFinishLaunching, .willEnterForeground, .didBecomeActive, .willResignActive, .didEnterBackground]
      ).merging(Self.changesOfTime) { $1 }
    }
  }

  /// The notifications of `NSWorkspace`, which has a center of its own.
  var workspaceEvents: [String: PlatformEvent] {
    guard self == .appKit else { return [:] }
    return [
      "NSWorkspaceScreensDidSleepNotification": .outOfSight(.screensAsleep),
      "NSWorkspaceScreensDidWakeNotification": .inSight(.screensAsleep),
      "NSWorkspaceSessionDidResignActiveNotification": .outOfSight(.sessionInactive),
      "NSWorkspaceSessionDidBecomeActiveNotification": .inSight(.sessionInactive),
      "NSWorkspaceWillSleepNotification": .outOfSight(.machineAsleep),
      "NSWorkspaceDidWakeNotification": .inSight(.machineAsleep),
    ]
  }

  /// Foundation's three notifications for changes of time, for platforms without a notification of their own.
  private static let changesOfTime: [String: PlatformEvent] = [
    "NSCalendarDayChangedNotification": .application(.significantTimeChange),
    "NSSystemClockDidChangeNotification": .application(.significantTimeChange),
    "NSSystemTimeZoneDidChangeNotification": .application(.significantTimeChange),
  ]

  /// Returns the notifications of these callbacks: UIKit's names with another prefix.
  private static func steps(of prefix: String, _ callbacks: [ApplicationCallback]) -> [String: PlatformEvent] {
    var events: [String: PlatformEvent] = [:]
    for callback in callbacks {
      guard let name = callback.notificationName else { continue }
      events[prefix + name.dropFirst("UIApplication".count)] = .application(callback)
    }
    return events
  }
}
