import BenchmarkHarness
import CBenchmarks
import Foundation
import PubSub

extension Section {
  /// What a subscription takes of the heap; its handler captures one word, and whoever subscribed keeps the token.
  static func memory(_ scale: Scale) -> Section {
    Section(
      name: "memory", title: "Bytes a subscription", rounds: scale.isQuick ? 1 : 3,
      judgements: [
        Judgement(row, "× \(Column.foundation)", .atMost, 0.6, aim: 0.45) {
          $0.ratio(row, Column.ours, to: Column.foundation)
        }
      ]
    ) {
      bench_heap_in_use() == 0 ? [] : [ours(), foundation()] + Peer.all.compactMap(peer)
    }
  }
}

private let count = 100_000
private let row = "token included"

/// Measures the heap's growth while `subscribe` runs; what it returns is kept until then.
private func contestant(_ column: String, subscribe: @escaping (CounterBank) -> Any) -> Contestant {
  Contestant(column, row: row) {
    let bank = CounterBank(count)
    let before = bench_heap_in_use()
    let subscribed = subscribe(bank)
    let after = bench_heap_in_use()
    return withExtendedLifetime((bank, subscribed)) { (Double(after) - Double(before)) / Double(count) }
  }
}

private func ours() -> Contestant {
  contestant(Column.ours) { Poster.subscribedBus(.counting($0)) }
}

private func foundation() -> Contestant {
  contestant(Column.foundation) { bank in
    let center = NotificationCenter()
    let tokens = bank.counters.map { counter in
      center.addObserver(forName: tickName, object: nil, queue: nil) { _ in counter.total &+= 1 }
    }
    return (center, tokens)
  }
}

private func peer(_ peer: Peer) -> Contestant? {
  guard peer.makeSignal() != nil else { return nil }
  return contestant(peer.column) { bank in
    let signal = peer.makeSignal()!
    for counter in bank.counters { signal.subscribe(counter) }
    return signal
  }
}
