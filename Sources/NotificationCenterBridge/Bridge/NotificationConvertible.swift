public import Foundation
public import PubSub

/// An event that can become a classic notification, and be made of one.
///
/// For an event of your own:
///
///     struct OrderPlaced: Event {
///       let id: Int
///     }
///
///     extension NotificationKey<Int> {
///       static var orderID: Self { "orderID" }
///     }
///
///     extension OrderPlaced: NotificationConvertible {
///       var notificationInfo: NotificationInfo { NotificationInfo(.orderID, id) }
///
///       init(_ notification: Notification) throws {
///         self.init(id: try notification.value(for: .orderID))
///       }
///     }
///
/// The events of the life cycle conform: their object is the application or the scene, and ``NotificationKey/transition`` or
/// ``NotificationKey/sceneTransition`` has the step.
public protocol NotificationConvertible: BusEvent {
  /// The name of the notification: by default that of the event type, without its module: `OrderPlaced`, and `Shop.OrderPlaced` for a nested one.
  static var notificationName: Notification.Name { get }

  /// The object of the notification; by default the subject of the event's post.
  ///
  /// In turn the subject of an event that is made of a notification is this object, by default that of the notification.
  var notificationObject: (any AnyObject & Sendable)? { get }

  /// The notification's `userInfo`, by typed keys; by default empty.
  var notificationInfo: NotificationInfo { get }

  /// Makes the event of a notification.
  ///
  /// Called on the thread that posts the notification.
  ///
  /// - Parameter notification: the notification.
  /// - Throws: ``NotificationMismatch``, or another error, if it is not a notification of this event. A ``NotificationBridgeFailure``
  ///   reports it, and no event is posted.
  init(_ notification: Notification) throws
}

extension NotificationConvertible {
  /// The name of the event type.
  public static var notificationName: Notification.Name { Notification.Name(name.rawValue) }
  /// No object of its own.
  public var notificationObject: (any AnyObject & Sendable)? { nil }
  /// Nothing.
  public var notificationInfo: NotificationInfo { NotificationInfo() }
}
