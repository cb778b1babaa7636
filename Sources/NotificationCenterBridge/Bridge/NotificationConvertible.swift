public import Foundation
public import PubSub

/// An event that can be converted to a classic notification, and back.
///
/// For an event of your own:
///
///     struct OrderPlaced: BusEvent {
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
/// The events of the life cycle conform: their object is the application or the scene, and `userInfo` has the
/// transition, with the key ``NotificationKey/transition`` or ``NotificationKey/sceneTransition``.
public protocol NotificationConvertible: EventBus.Event {
  /// The name of the notification; by default the name of the event type without its module: `OrderPlaced`, or
  /// `Shop.OrderPlaced` for a nested type.
  static var notificationName: Notification.Name { get }

  /// The object of the notification; by default the subject of the event's post.
  ///
  /// In the other direction, this object is the subject of an event that is made from a notification; by default it is
  /// the notification's object.
  var notificationObject: (any AnyObject & Sendable)? { get }

  /// The `userInfo` of the notification, with typed keys; by default empty.
  var notificationInfo: NotificationInfo { get }

  /// Makes the event from a notification.
  ///
  /// The bridge calls it on the thread that posts the notification.
  ///
  /// - Parameter notification: the notification.
  /// - Throws: ``NotificationMismatch``, or another error, if it is not a notification of this event. The bridge then
  ///   posts a ``NotificationBridgeFailure``, and no event.
  init(_ notification: Notification) throws
}

extension NotificationConvertible {
  /// The name of the event type.
  public static var notificationName: Notification.Name { Notification.Name(name.rawValue) }
  /// No object: the bridge uses the subject of the post.
  public var notificationObject: (any AnyObject & Sendable)? { nil }
  /// No values.
  public var notificationInfo: NotificationInfo { NotificationInfo() }
}
