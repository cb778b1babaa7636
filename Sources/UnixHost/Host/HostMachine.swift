import AppLifecycle

/// The state machine of a host, which takes an event and returns a list of effects.
///
/// It is a value that holds no descriptor, reads no clock and calls no other code. ``HostThread`` performs the effects
/// in order. If an effect is a question, the answer is the next event.
protocol HostMachine: Sendable {
  associatedtype Event: HostEvent
  associatedtype Effect

  /// The budgets that the host enforces.
  var budgets: HostBudgets { get }
  /// The time until which a further order has no effect, also after the host has ended; nil without an order.
  var repetitionsEnd: Duration? { get }

  /// Handles an event, and returns the effects for the driver.
  mutating func handle(_ event: Event) -> [Effect]
}

extension BudgetOverrun {
  /// The overrun without duplicate culprits; code that is late with two calls is listed twice before.
  var namingEachOnce: BudgetOverrun {
    var seen: Set<String> = []
    var overrun = self
    overrun.culprits.removeAll { !seen.insert($0).inserted }
    return overrun
  }
}
