import CBenchmarks

/// What one subscriber adds to.
///
/// A closure that captures one of these and nothing else has it as its context, at no further step.
final class Counter: @unchecked Sendable {
  /// Every contestant would pay alike for a check of exclusive access; the floor, in C, would not.
  @exclusivity(unchecked) var total = 0

  /// Adds to the total; an amount below zero is an error.
  func add(_ amount: Int) throws {
    guard amount >= 0 else { throw NegativeAmount() }
    total &+= amount
  }

  private struct NegativeAmount: Error {}
}

/// A counter for each subscriber.
final class CounterBank: Sendable {
  let counters: [Counter]

  init(_ count: Int) { counters = (0..<count).map { _ in Counter() } }

  /// What all subscribers have been told.
  var total: Int { counters.reduce(0) { $0 + $1.total } }
}

/// What subscribers do with an event.
enum Work {
  /// Each adds to a counter of its own, which its handler captured.
  case counting(CounterBank)
  /// Each adds to the counter that is its owner.
  case owning(CounterBank)
  /// Each of so many adds to a counter of the thread that calls it.
  case tallying(Int)
}
