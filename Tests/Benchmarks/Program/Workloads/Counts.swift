import BenchmarkHarness
import CBenchmarks

extension Section {
  /// Counts what a post to 10 synchronous subscribers takes from the heap, and how often it counts references.
  ///
  /// An owner's handler needs a retain and a release of its owner, so there the allocations alone are judged.
  static func counts() -> Section {
    Section(
      name: "counts", title: "Counted during a post to 10 synchronous subscribers", rounds: 1,
      judgements: Row.plain.flatMap { row in [none(row, Column.topic), none(row, Column.byType)] } + [
        none(Row.owner[0], Column.topic), none(Row.owner[0], Column.byType), none(Row.mainActorOwner[0], Column.byType),
      ],
      hasAbsoluteBounds: true
    ) {
      guard bench_can_count() else { return [] }
      let bank = CounterBank(count)
      let owners = CounterBank(count)
      let mainActorOwners = CounterBank(count)
      return Poster.all(.counting(bank)).map { contestant($0.column, Row.plain, total: { bank.total }, post: $0.post) }
        + Poster.all(.owning(owners)).map {
          contestant($0.column, Row.owner, total: { owners.total }, post: $0.post)
        } + [
          contestant(
            Column.byType, Row.mainActorOwner, total: { mainActorOwners.total },
            post: Form.ownerOnMainActor.subscribe(mainActorOwners))
        ]
    }
  }
}

private let count = 10

/// Allocations, retains and releases, in this order.
private enum Row {
  static let plain = ["allocations", "retains", "releases"]
  static let owner = plain.map { "\($0), owners" }
  static let mainActorOwner = plain.map { "\($0), main actor" }
}

private func none(_ row: String, _ column: String) -> Judgement {
  Judgement(row, column, .atMost, 0) { $0.median(row, column) }
}

private func contestant(
  _ column: String, _ rows: [String], total: @escaping () -> Int, post: @escaping (Int) -> Void
) -> Contestant {
  let times = 1_000
  /// What is counted in so many posts.
  func counts(_ times: Int) -> [Int] {
    bench_start_counting()
    post(times)
    let counts = bench_stop_counting()
    return [counts.allocations, counts.retains, counts.releases].map { Int($0) }
  }
  return Contestant(column) {
    let before = total()
    // Without a post: what the loop itself takes, as a closure for its actor.
    let (loop, all) = (counts(0), counts(times))
    try WorkNotDone.check(total() - before, expected: count * times, "\(column), counted")
    return zip(rows, zip(all, loop)).map { row, figures in
      (row, Double(figures.0 - figures.1) / Double(times))
    }
  }
}
