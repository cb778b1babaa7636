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

private let oneSubscriber = row(1)

private func row(_ count: Int) -> String { "to \(count.grouped)" }

private func bounds(_ count: Int) -> [Judgement] {
  let row = row(count)
  // A floor that calls no handler does nothing: a post without subscribers is compared with the floor's post to one.
  let floorRow = count == 0 ? oneSubscriber : row
  let (bound, aim) =
    switch count {
    case 0: (1.3, 0.7)
    case 1: (4, 3)
    case 10: (1.5, 1.15)
    default: (1.15, 1.05)
    }
  let fromFloor = Judgement(row, "× \(Column.floor)", .atMost, bound, aim: aim) {
    $0.ratio(row, $0.ours(row), toRow: floorRow, Column.floor)
  }
  // A topic without subscribers is not even called: there a post by type is judged for itself.
  let byTypeToNone = Judgement(row, "× \(Column.floor) by type", .atMost, 2.2, aim: 1) {
    $0.ratio(row, Column.byType, toRow: oneSubscriber, Column.floor)
  }
  // What finding the subscribers by the event's type adds; among many subscribers it drowns.
  let byType = Judgement(row, "× \(Column.floor) more by type", .atMost, 0.9, aim: 0.3) {
    guard let byType = $0.ratio(row, Column.byType, toRow: oneSubscriber, Column.floor),
      let topic = $0.ratio(row, Column.topic, toRow: oneSubscriber, Column.floor)
    else { return nil }
    return byType - topic
  }
  let fromFoundation = Judgement(row, "× as \(Column.foundation)", .atLeast, count < 10 ? 25 : 35, aim: 45) {
    $0.ratio(row, Column.foundation, to: $0.ours(row))
  }
  return switch count {
  case 0: [fromFloor, byTypeToNone, fromFoundation]
  case ...10: [fromFloor, byType, fromFoundation]
  default: [fromFloor, fromFoundation]
  }
}
