import BenchmarkHarness
import Foundation
import PubSub
import Scheduling

extension Section {
  /// Cancels all of many subscriptions, in random order.
  static func cancelling(_ scale: Scale) -> Section {
    Section(
      name: "cancelling", title: "Cancelling \(count.grouped) in random order, ns each", rounds: scale.longRounds,
      judgements: [
        Judgement(row, "× \(Column.foundation)", .atMost, 0.45, aim: 0.2) {
          $0.ratio(row, Column.ours, to: Column.foundation)
        }
      ]
    ) {
      // The snapshot is left out: it moves half of its entries at each removal, and would take minutes.
      [ours(), foundation()] + [Peer.boost, .sigc].compactMap(peer)
    }
  }
}

private let count = 100_000
private let row = "each of \(count.grouped)"

/// Subscribes anew in every round, and times the cancelling alone; a post at the end must reach no handler.
private func contestant(
  _ column: String, subscribe: @escaping (CounterBank) -> (cancel: (Int) -> Void, post: () -> Void)
) -> Contestant {
  var generator = SplitMix64(seed: 1)
  return Contestant(column, row: row) {
    let bank = CounterBank(count)
    let (cancel, post) = subscribe(bank)
    let order = (0..<count).shuffled(using: &generator)
    let elapsed = Stopwatch.threadTime { for index in order { cancel(index) } }
    post()
    try WorkNotDone.check(bank.total, expected: 0, column)
    return elapsed.nanoseconds / Double(count)
  }
}

private func ours() -> Contestant {
  contestant(Column.ours) { bank in
    let (bus, subscriptions) = Poster.subscribedBus(.counting(bank))
    return ({ subscriptions[$0].cancel() }, { bus.post(Tick(amount: 1)) })
  }
}

private func foundation() -> Contestant {
  contestant(Column.foundation) { bank in
    let center = NotificationCenter()
    let tokens = bank.counters.map { counter in
      center.addObserver(forName: tickName, object: nil, queue: nil) { _ in counter.total &+= 1 }
    }
    return ({ center.removeObserver(tokens[$0]) }, { center.post(name: tickName, object: nil) })
  }
}

private func peer(_ peer: Peer) -> Contestant? {
  guard peer.makeSignal() != nil else { return nil }
  return contestant(peer.column) { bank in
    let signal = peer.makeSignal()!
    for counter in bank.counters { signal.subscribe(counter) }
    return ({ signal.cancel($0) }, { signal.post(times: 1) })
  }
}
