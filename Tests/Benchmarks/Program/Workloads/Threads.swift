import BenchmarkHarness

extension Section {
  /// Posts to 10 subscribers from several threads, each of which tallies for itself.
  ///
  /// Wall time tells what two threads get done together; with a third one on two processors it would tell of the scheduler, so
  /// there it is the posters' own processor time that counts.
  static func threads(_ scale: Scale) -> Section {
    Section(
      name: "threads",
      title: "Posting to 10 subscribers from threads, a post each (churn: another thread subscribes and cancels)",
      rounds: 5,
      judgements: [
        // The best of each, not the best ratio: that would be the one whose single thread was disturbed.
        Judgement(Row.two, "× 1 (best of 5)", .atLeast, 1.6, aim: 1.95) {
          let column = $0.ours(Row.one)
          guard let one = $0[Row.one, column]?.minimum, let two = $0[Row.two, column]?.minimum else { return nil }
          return one / two
        },
        Judgement(Row.twoDisturbed, "× 1 alone", .atLeast, 0.7, aim: 0.85) {
          let column = $0.ours(Row.one)
          guard let alone = $0.median(Row.oneTime, column), let disturbed = $0.median(Row.twoDisturbed, column) else {
            return nil
          }
          return alone / disturbed
        },
      ]
    ) {
      Poster.all(.tallying(subscriberCount)).map { contestant($0, slice: scale.slice * 4) }
    }
  }
}

private let subscriberCount = 10

private enum Row {
  static let one = "1 thread, ns a post"
  static let two = "2 threads, ns a post"
  static let oneTime = "1 thread, CPU ns"
  static let twoTime = "2 threads, CPU ns"
  static let oneDisturbed = "1 and a churn, CPU ns"
  static let twoDisturbed = "2 and a churn, CPU ns"
}

private func contestant(_ poster: Poster, slice: Duration) -> Contestant {
  var calibrated: Int?
  func run(_ threads: Int, _ count: Int, disturb: (@Sendable () -> Void)? = nil) throws -> PostingRun {
    let run = PostingRun(threads: threads, disturb: disturb) { poster.post(count) }
    let expected = threads * count * subscriberCount
    try WorkNotDone.check(run.total, expected: expected, "\(poster.column), \(threads) threads")
    return run
  }
  return Contestant(poster.column) {
    let count = try calibrated ?? Stopwatch.calibrate(slice) { try run(1, $0).cpuTime }
    calibrated = count
    let posts = Double(count)
    let (one, two) = (try run(1, count), try run(2, count))
    var figures = [
      (Row.one, one.wall.nanoseconds / posts), (Row.two, two.wall.nanoseconds / posts / 2),
      (Row.oneTime, one.cpuTime.nanoseconds / posts), (Row.twoTime, two.cpuTime.nanoseconds / posts / 2),
    ]
    if let disturb = poster.subscribeAndCancel {
      let oneDisturbed = try run(1, count, disturb: disturb)
      let twoDisturbed = try run(2, count, disturb: disturb)
      figures += [
        (Row.oneDisturbed, oneDisturbed.cpuTime.nanoseconds / posts),
        (Row.twoDisturbed, twoDisturbed.cpuTime.nanoseconds / posts / 2),
      ]
    }
    return figures
  }
}
