import AppLifecycle

/// What a notification of Apple's systems says.
enum PlatformEvent: Sendable, Hashable {
  /// A step of the application.
  case application(ApplicationCallback)
  /// A step of a scene.
  case scene(SceneCallback)
  /// From now on something keeps the application out of the user's sight.
  case outOfSight(Hiding)
  /// It does so no longer.
  case inSight(Hiding)

  /// What keeps an application of AppKit out of the user's sight.
  enum Hiding: Sendable, Hashable {
    /// The user has hidden it.
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
  /// The names are those in the headers of UIKit, AppKit and WatchKit, whose constants have their own names as values. The two of
  /// protected data have no suffix.
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

  /// Where the platform has no notification of its own for these, Foundation has three.
  private static let changesOfTime: [String: PlatformEvent] = [
    "NSCalendarDayChangedNotification": .application(.significantTimeChange),
    "NSSystemClockDidChangeNotification": .application(.significantTimeChange),
    "NSSystemTimeZoneDidChangeNotification": .application(.significantTimeChange),
  ]

  /// The notifications of these steps: UIKit's names with another beginning.
  private static func steps(of prefix: String, _ callbacks: [ApplicationCallback]) -> [String: PlatformEvent] {
    var events: [String: PlatformEvent] = [:]
    for callback in callbacks {
      guard let name = callback.notificationName else { continue }
      events[prefix + name.dropFirst("UIApplication".count)] = .application(callback)
    }
    return events
  }
}
