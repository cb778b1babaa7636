// On systems with UIKit, UIKit itself has these names.
#if !canImport(UIKit)
  public import AppLifecycle
  public import Foundation

  /// The identifier of a background task.
  public struct UIBackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
    /// The number of the task among those of its application, from 1; 0 is ``invalid``.
    public let rawValue: Int

    /// Makes an identifier from a number.
    ///
    /// - Parameter rawValue: the number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The identifier of no task.
    public static let invalid = Self(rawValue: 0)
  }

  extension Application {
    /// The time in seconds that the application may still run in the background; `.greatestFiniteMagnitude` if it is not
    /// limited.
    ///
    /// `Application.remainingBackgroundTime` is the same time as a `Duration`.
    @preconcurrency public var backgroundTimeRemaining: TimeInterval {
      remainingBackgroundTime.map { $0 / .seconds(1) } ?? .greatestFiniteMagnitude
    }

    /// Begins a background task without a name, as ``beginBackgroundTask(withName:expirationHandler:)`` does.
    ///
    /// - Parameter handler: called on the main actor shortly before the time is over; it must end the task.
    /// - Returns: the identifier of the task.
    @preconcurrency public nonisolated func beginBackgroundTask(
      expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { beginBackgroundTask(withName: nil, expirationHandler: handler) }

    /// Begins a background task, which gives the application time to finish its work.
    ///
    /// It is a background task of `beginBackgroundTask(named:expirationHandler:)`, with the same limits. Any thread may
    /// call the method. The task has begun, or is refused, when the method returns. For a refused task the method returns
    /// ``UIBackgroundTaskIdentifier/invalid``, as UIKit does, and the handler is not called.
    ///
    /// - Parameters:
    ///   - taskName: the name of the task in records and reports; nil for a name that the application makes.
    ///   - handler: called on the main actor shortly before the time is over; it must end the task.
    /// - Returns: the identifier of the task, to end exactly once, or ``UIBackgroundTaskIdentifier/invalid``.
    @preconcurrency public nonisolated func beginBackgroundTask(
      withName taskName: String?, expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier {
      let task = beginBackgroundTask(named: taskName ?? "unnamed") { task in
        if !task.wasRefused { handler?() }
      }
      guard !task.wasRefused else {
        task.end()
        return .invalid
      }
      return UIBackgroundTaskIdentifier(rawValue: task.number + 1)
    }

    /// Ends a background task, because the application no longer needs the time.
    ///
    /// Any thread may call the method. It does nothing for ``UIBackgroundTaskIdentifier/invalid`` and for a task of an
    /// earlier process. A second call for a task, and an identifier that no task has, are reported
    /// (`taskEndedTwice:IDENTIFIER`) and have no other effect.
    ///
    /// - Parameter identifier: the identifier of the task.
    public nonisolated func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {
      // No identifier is less than 1.
      guard identifier.rawValue > 0 else { return }
      endBackgroundTask(numbered: identifier.rawValue - 1, named: "\(identifier.rawValue)")
    }
  }
#endif
