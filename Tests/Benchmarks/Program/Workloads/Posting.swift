import BenchmarkHarness

extension Section {
  /// Posts to synchronous subscribers, each of which adds to a counter of its own.
  static func posting(_ scale: Scale) -> Section {
    Section(
      name: "posting", title: "Posting to synchronous subscribers, ns a post", rounds: scale.rounds,
      judgements: subscriberCounts.flatMap(bounds)
    ) {
      subscriberCounts.flatMap { count in
        // All contestants of a row add to the same counters: each finds them as near or as far as the one before it.
        let bank = CounterBank(count)
        return Poster.all(.counting(bank)).map { poster in
          Contestant(
            poster.column, row: row(count), slice: scale.slice, deliveries: count, total: { bank.total },
            repeat: poster.post)
        }
      }
    }
  }
}

private let subscriberCounts = [0, 1, 10, 100, 1_000]

private func row(_ count: Int) -> String { "to \(count.grouped)" }

private func bounds(_ count: Int) -> [Judgement] {
  let row = row(count)
  func times(_ reference: String, _ bound: Double, aim: Double) -> Judgement {
    Judgement(row, "× \(reference)", .atMost, bound, aim: aim) { $0.ratio(row, $0.ours(row), to: reference) }
  }
  let fromFoundation = Judgement(row, "× as \(Column.foundation)", .atLeast, count < 10 ? 25 : 35, aim: 45) {
    $0.ratio(row, Column.foundation, to: $0.ours(row))
  }
  let byType = Judgement(row, "ns by type", .atMost, 3, aim: 1) {
    guard let byType = $0.median(row, Column.byType), let topic = $0.median(row, Column.topic) else { return nil }
    return byType - topic
  }
  return switch count {
  case 0: [Judgement(row, "ns", .atMost, 3, aim: 1.5) { $0.median(row, $0.ours(row)) }, byType, fromFoundation]
  case 1: [times(Column.floor, 4, aim: 3), byType, fromFoundation]
  case 10: [times(Column.floor, 1.5, aim: 1.15), byType, fromFoundation]
  default: [times(Column.floor, 1.3, aim: 1.05), times(Column.closures, 0.2, aim: 0.2), fromFoundation]
  }
}
