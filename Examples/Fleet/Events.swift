import PubSub

/// The coordinator gives an order to a worker.
struct OrderPlaced: BusEvent, Codable {
  let id: Int
  /// The topic of the worker's announcements.
  let worker: String
}

/// A worker has done an order.
struct OrderDone: BusEvent, Codable {
  let id: Int
  let worker: String
}

/// The topics at the broker.
enum Topic {
  static let placed = "checkout/orders/placed"
  static let done = "checkout/orders/done"
  static let fleet = "checkout/fleet/+"

  /// Where a part of the program announces its life cycle.
  static func fleet(_ name: String) -> String { "checkout/fleet/\(name)" }
}
