public import Foundation
public import PubSub

/// A notification could not be turned into its event, or not where it was posted.
///
/// Posted on the bridge's bus, on the thread that posted the notification.
public struct NotificationBridgeFailure: Event, CustomStringConvertible {
  /// What is wrong with the notification.
  public enum Reason: Sendable {
    /// The event could not be made of it: no event is posted.
    case notConvertible(any Error)
    /// The event is posted on the main actor, and the notification was posted elsewhere: the event follows as soon as the main actor
    /// is free.
    case notOnMainThread
  }

  /// The notification's name.
  public let notificationName: Notification.Name
  /// The name of the event.
  public let eventName: EventName
  /// What is wrong.
  public let reason: Reason

  /// The failure in a line.
  public var description: String {
    switch reason {
    case .notConvertible(let error):
      "the notification \(notificationName.rawValue) was not posted as the event \(eventName): \(error)"
    case .notOnMainThread:
      "the notification \(notificationName.rawValue) was posted off the main thread: the event \(eventName) follows on the main actor"
    }
  }
}
