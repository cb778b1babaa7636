import Foundation
import NotificationCenterBridge
import PubSub

// What the bridge needs to know of the shop's events: the notifications of old, whose names and keys stay. It goes with the bridge.

extension NotificationKey<Set<Int>> {
  static var orderIDs: Self { "orderIDs" }
}

extension NotificationKey<String> {
  static var user: Self { "user" }
}

extension OrderDidArrive: NotificationConvertible {
  static var notificationName: Notification.Name { .orderDidArrive }
  var notificationObject: (any AnyObject & Sendable)? { till }
  var notificationInfo: NotificationInfo { NotificationInfo(.orderID, id) }

  init(_ notification: Notification) throws {
    self.init(
      id: try notification.value(for: .orderID), till: try notification.object())
  }
}

extension OrderWasCancelled: NotificationConvertible {
  static var notificationName: Notification.Name { .orderWasCancelled }
  var notificationInfo: NotificationInfo { NotificationInfo(.orderID, id) }

  init(_ notification: Notification) throws {
    self.init(id: try notification.value(for: .orderID))
  }
}

extension SyncDidEnd: NotificationConvertible {
  static var notificationName: Notification.Name { .syncDidEnd }
  var notificationInfo: NotificationInfo { NotificationInfo(.orderIDs, ids) }

  init(_ notification: Notification) throws {
    self.init(ids: try notification.value(for: .orderIDs))
  }
}

extension UserDidSignIn: NotificationConvertible {
  static var notificationName: Notification.Name { .userDidSignIn }
  var notificationInfo: NotificationInfo { NotificationInfo(.user, user) }

  init(_ notification: Notification) throws {
    self.init(user: try notification.value(for: .user))
  }
}

extension UserDidSignOut: NotificationConvertible {
  static var notificationName: Notification.Name { .userDidSignOut }
  init(_ notification: Notification) {}
}
