/// Tells copies of an order to end from an order that is repeated.
///
/// Pure. A wrapper such as `timeout`, `npm` or a container's init forwards a signal that the terminal or the shell has sent to the
/// whole job already, so that a program gets each order twice. A person who sees that nothing happens repeats the order later.
struct EndOrders: Sendable, Hashable {
  /// An order that arrives sooner after the first one was taken up is a copy of it.
  static let copyWindow = Duration.milliseconds(500)

  /// When the first order was taken up; nil before.
  private(set) var began: Duration?

  /// What an order means.
  enum Meaning: Sendable, Hashable {
    /// The first one: end, in full order.
    case end
    /// A copy of the first one.
    case copy
    /// A separate, later one: end at once.
    case endAtOnce
  }

  /// Takes an order.
  mutating func take(_ record: SignalRecord) -> Meaning {
    guard let began else {
      began = record.taken
      return .end
    }
    return record.arrived - began < Self.copyWindow ? .copy : .endAtOnce
  }
}
