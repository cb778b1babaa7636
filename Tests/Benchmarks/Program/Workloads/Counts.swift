import BenchmarkHarness
import CBenchmarks

extension Section {
  /// Counts what a post to 10 synchronous subscribers takes from the heap, and how often it counts references.
  static func counts() -> Section {
    Section(
      name: "counts", title: "Counted during a post to 10 synchronous subscribers", rounds: 1,
      judgements: [Row.allocations, Row.retains, Row.releases].flatMap { row in
        [Column.topic, Column.byType].map { column in
          Judgement(row, column, .atMost, 0) { $0.median(row, column) }
        }
      }
    ) {
      guard bench_can_count() else { return [] }
      let bank = CounterBank(10)
      return Poster.all(.counting(bank)).map { poster in contestant(poster, total: { bank.total }) }
    }
  }
}

private enum Row {
  static let allocations = "allocations"
  static let retains = "retains"
  static let releases = "releases"
}

private func contestant(_ poster: Poster, total: @escaping () -> Int) -> Contestant {
  let times = 1_000
  return Contestant(poster.column) {
    let before = total()
    bench_start_counting()
    poster.post(times)
    let counts = bench_stop_counting()
    try WorkNotDone.check(total() - before, expected: 10 * times, "\(poster.column), counted")
    return [
      (Row.allocations, Double(counts.allocations) / Double(times)),
      (Row.retains, Double(counts.retains) / Double(times)),
      (Row.releases, Double(counts.releases) / Double(times)),
    ]
  }
}
