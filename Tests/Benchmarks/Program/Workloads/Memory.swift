import BenchmarkHarness
import CBenchmarks
import Foundation
import PubSub

extension Section {
  /// What a subscription takes of the heap, its token included: of a handler that captures one word, and of an owner's handler.
  static func memory(_ scale: Scale) -> Section {
    Section(
      name: "memory", title: "Bytes a subscription, token included", rounds: scale.isQuick ? 1 : 3,
      judgements: [bound(Row.plain, 0.6, aim: 0.35), bound(Row.owner, 1.2, aim: 0.8)]
    ) {
      guard bench_heap_in_use() > 0 else { return [] }
      try checkLargeBlocks()
      return [ours(Row.plain), foundation(Row.plain)] + Peer.all.compactMap(peer) + [
        ours(Row.owner), foundation(Row.owner),
      ]
    }
  }
}

private let count = 100_000

private enum Row {
  static let plain = "plain"
  static let owner = "owner"

  static func work(_ row: String, _ bank: CounterBank) -> Work { row == owner ? .owning(bank) : .counting(bank) }
}

private func bound(_ row: String, _ bound: Double, aim: Double) -> Judgement {
  Judgement(row, "× \(Column.foundation)", .atMost, bound, aim: aim) {
    $0.ratio(row, Column.ours, to: Column.foundation)
  }
}

/// Throws unless the heap's figure has in it what `malloc` maps for itself, as it does for large buffers.
///
/// Threads of the table before may still free what it left, and on a busy machine they take their time: then it looks again.
private func checkLargeBlocks() throws {
  let size = 1 << 26
  for _ in 0..<1000 {
    let before = bench_heap_in_use()
    let block = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    let after = bench_heap_in_use()
    block.deallocate()
    if after >= before + UInt64(size) { return }
    sched_yield()
  }
  throw WorkNotDone("memory: large buffers are not counted")
}

/// Measures the heap's growth while `subscribe` runs; what it returns is kept until then.
private func contestant(_ column: String, _ row: String, subscribe: @escaping (CounterBank) -> Any) -> Contestant {
  Contestant(column, row: row) {
    let bank = CounterBank(count)
    let before = bench_heap_in_use()
    let subscribed = subscribe(bank)
    let after = bench_heap_in_use()
    return withExtendedLifetime((bank, subscribed)) { (Double(after) - Double(before)) / Double(count) }
  }
}

private func ours(_ row: String) -> Contestant {
  contestant(Column.ours, row) { Poster.subscribedBus(Row.work(row, $0)) }
}

private func foundation(_ row: String) -> Contestant {
  contestant(Column.foundation, row) { Poster.observedCenter(Row.work(row, $0)) }
}

private func peer(_ peer: Peer) -> Contestant? {
  guard peer.makeSignal() != nil else { return nil }
  return contestant(peer.column, Row.plain) { bank in
    let signal = peer.makeSignal()!
    for counter in bank.counters { signal.subscribe(counter) }
    return signal
  }
}
