import Foundation
import NotificationCenterBridge
import PubSub
import Synchronization

struct OrderPlaced: BusEvent, Equatable {
  let id: Int
}

extension NotificationKey<Int> {
  static var orderID: Self { "orderID" }
}

extension OrderPlaced: NotificationConvertible {
  var notificationInfo: NotificationInfo { NotificationInfo(.orderID, id) }

  init(_ notification: Notification) throws {
    self.init(id: try notification.value(for: .orderID))
  }
}

/// From a shop, which is its object.
struct ShopOpened: MainActorEvent {
  let shop: Shop
}

class Shop: @unchecked Sendable {}

extension ShopOpened: NotificationConvertible {
  static var notificationName: Notification.Name { Notification.Name("com.example.shop.opened") }
  var notificationObject: (any AnyObject & Sendable)? { shop }

  init(_ notification: Notification) throws {
    self.init(shop: try notification.object())
  }
}

/// What happened, in order, from any thread.
final class Log: Sendable {
  private let lines = Mutex<[String]>([])
  func add(_ line: String) { lines.withLock { $0.append(line) } }
  var all: [String] { lines.withLock { $0 } }
}
