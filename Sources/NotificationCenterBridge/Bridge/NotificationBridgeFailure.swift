public import Foundation
public import PubSub

/// The event that a notification could not be converted to its event, or not on the thread that posted it.
///
/// It is posted on the bridge's bus, on the thread that posted the notification.
public struct NotificationBridgeFailure: BusEvent, CustomStringConvertible {
  /// The reason of the failure.
  public enum Reason: Sendable {
    /// The event could not be made from the notification; no event is posted.
    case notConvertible(any Error)
    /// The notification of a main-actor event was posted off the main thread. The event is posted as soon as the main
    /// actor is free.
    case notOnMainThread
    /// The notification of a main-actor event was posted off the main thread by the deinitializer of its object. No event
    /// is posted, because the event would keep the object.
    case objectIsGone
  }

  /// The notification's name.
  public let notificationName: Notification.Name
  /// The name of the event.
  public let eventName: EventName
  /// The reason of the failure.
  public let reason: Reason

  /// The failure in one line.
  public var description: String {
    switch reason {
    case .notConvertible(let error):
      "the notification \(notificationName.rawValue) was not posted as the event \(eventName): \(error)"
    case .notOnMainThread:
      "the notification \(notificationName.rawValue) was posted off the main thread: the event \(eventName) follows on the main actor"
    case .objectIsGone:
      "the notification \(notificationName.rawValue) was not posted as the event \(eventName): its object posted it off the main thread while it was being deinitialized"
    }
  }
}
