import BenchmarkHarness
import Foundation
import PubSub

extension Section {
  /// Subscribes and cancels at once, among others that stay.
  static func subscribing(_ scale: Scale) -> Section {
    let last = row(others.last!)
    return Section(
      name: "subscribing", title: "Subscribing and cancelling, ns for both", rounds: scale.rounds,
      judgements: others.map { count in
        let row = row(count)
        return Judgement(row, "× \(Column.foundation)", .atMost, 0.35, aim: 0.2) {
          $0.ratio(row, Column.ours, to: Column.foundation)
        }
      } + [
        Judgement(last, "× 0 others", .atMost, 1.3) {
          $0.ratio(last, Column.ours, toRow: row(0), Column.ours)
        }
      ]
    ) {
      others.flatMap { count in
        [ours(count), foundation(count)].map { $0.contestant(scale) }
          + Peer.all.compactMap { peer(among: count, $0)?.contestant(scale) }
      }
    }
  }
}

private let others = [0, 1_000, 100_000]

private func row(_ count: Int) -> String { "among \(count.grouped) others" }

/// A bus or center with which code can subscribe.
private struct Registry {
  let column: String
  /// The subscribers that stay; a post must reach each of them once.
  let others: CounterBank
  let subscribeAndCancel: (Int) -> Void
  let post: () -> Void

  func contestant(_ scale: Scale) -> Contestant {
    let row = row(others.counters.count)
    let timed = Contestant(
      column, row: row, slice: scale.slice, deliveries: 0, total: { 0 }, repeat: subscribeAndCancel)
    var isChecked = false
    return Contestant(column) {
      let figures = try timed.measure()
      if !isChecked {
        post()
        try WorkNotDone.check(others.total, expected: others.counters.count, "\(column), \(row)")
        isChecked = true
      }
      return figures
    }
  }
}

private func ours(_ count: Int) -> Registry {
  let others = CounterBank(count)
  let (bus, subscriptions) = Poster.subscribedBus(.counting(others))
  let counter = Counter()
  return Registry(
    column: Column.ours, others: others,
    subscribeAndCancel: { times in
      for _ in 0..<times { bus.subscribe(to: Tick.self) { counter.total &+= $0.amount }.cancel() }
    },
    post: { withExtendedLifetime(subscriptions) { bus.post(Tick(amount: 1)) } })
}

private func foundation(_ count: Int) -> Registry {
  let others = CounterBank(count)
  let center = NotificationCenter()
  for other in others.counters {
    _ = center.addObserver(forName: tickName, object: nil, queue: nil) { _ in other.total &+= 1 }
  }
  let counter = Counter()
  return Registry(
    column: Column.foundation, others: others,
    subscribeAndCancel: { times in
      for _ in 0..<times {
        center.removeObserver(
          center.addObserver(forName: tickName, object: nil, queue: nil) { _ in counter.total &+= 1 })
      }
    },
    post: { center.post(name: tickName, object: nil) })
}

private func peer(among count: Int, _ peer: Peer) -> Registry? {
  guard let signal = peer.makeSignal() else { return nil }
  let others = CounterBank(count)
  for other in others.counters { signal.subscribe(other) }
  return Registry(
    column: peer.column, others: others, subscribeAndCancel: { signal.subscribeAndCancel(times: $0) },
    post: { signal.post(times: 1) })
}
