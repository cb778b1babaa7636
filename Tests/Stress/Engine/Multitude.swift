package import PubSub
import Scheduling
internal import Synchronization

/// So many subscribers to one event that anything but constant time for each shows: they subscribe, are posted to, and are
/// cancelled in some order.
package struct Multitude: Sendable {
  /// In which order they are cancelled.
  package enum Order: CaseIterable, Sendable {
    case firstToLast, lastToFirst, random
  }

  package let count: Int
  package let order: Order
  package let seed: UInt64

  /// So many, to be cancelled in an order; `seed` is for the random one.
  package init(count: Int, order: Order, seed: UInt64 = 0) {
    self.count = count
    self.order = order
    self.seed = seed
  }

  /// An event that says how often its handlers were called.
  private struct Call: BusEvent {
    let calls: Tally
  }

  private final class Tally: Sendable {
    let count = Atomic(0)
  }

  /// What each handler captures.
  private final class Captured: Sendable {
    private let living: Tally
    init(_ living: Tally) {
      self.living = living
      living.count.add(1, ordering: .relaxed)
    }
    deinit { living.count.subtract(1, ordering: .relaxed) }
  }

  /// What went wrong; nothing, if all is well.
  package func run(on bus: EventBus) -> [String] {
    var failures: [String] = []
    func expect(_ found: Int, _ expected: Int, _ what: String) {
      if found != expected { failures.append("\(what): \(found) instead of \(expected)") }
    }
    func calls() -> Int {
      let calls = Tally()
      bus.post(Call(calls: calls))
      return calls.count.load(ordering: .relaxed)
    }
    let living = Tally()
    var subscriptions: [EventBus.Subscription?] = (0..<count).map { number in
      let captured = Captured(living)
      // A few stand apart, as they do in programs.
      return bus.subscribe(to: Call.self, priority: number % 1_000 == 7 ? .high : .normal) { call in
        withExtendedLifetime(captured) { _ = call.calls.count.add(1, ordering: .relaxed) }
      }
    }
    expect(calls(), count, "delivered to all")
    var places = Array(0..<count)
    switch order {
    case .firstToLast: break
    case .lastToFirst: places.reverse()
    case .random:
      var random = SplitMix64(seed: seed)
      places.shuffle(using: &random)
    }
    for place in places[..<(count / 2)] { subscriptions[place] = nil }
    expect(calls(), count - count / 2, "delivered to half")
    expect(living.count.load(ordering: .relaxed), count - count / 2, "captured by half")
    for place in places[(count / 2)...] { subscriptions[place]?.cancel() }
    expect(calls(), 0, "delivered without a subscriber")
    expect(living.count.load(ordering: .relaxed), 0, "captured by no handler")
    expect(bus.subscriptions.count, 0, "listed")
    return failures
  }
}
