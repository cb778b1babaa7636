import BenchmarkHarness

extension Section {
  /// Posts to 10 subscribers from several threads, each of which tallies for itself.
  ///
  /// The clock on the wall tells what two threads get done together; with a third one on two processors it would tell of the scheduler, so
  /// there it is the posters' own processor time that counts.
  static func threads(_ scale: Scale) -> Section {
    Section(
      name: "threads",
      title: "Posting to 10 subscribers from threads, a post each (churn: another thread subscribes and cancels)",
      rounds: scale.rounds * 2,
      judgements: [
        // Two processors that share a core or a machine do not do twice the work of one: the floor tells what they can do.
        Judgement(Row.two, "× floor's gain", .atLeast, 0.95, aim: 1) {
          guard let ours = $0.gains($0.ours(Row.one), from: Row.one, to: Row.two),
            let floor = $0.gains(Column.floor, from: Row.one, to: Row.two)
          else { return nil }
          return ours.ratios(to: floor).median
        },
        // The share of its speed alone that a poster keeps, by what the floor keeps beside a second poster.
        Judgement(Row.twoDisturbed, "kept, × floor's", .atLeast, 0.7, aim: 0.85) {
          let column = $0.ours(Row.one)
          guard let alone = $0.ratio(Row.oneTime, column, toRow: Row.twoDisturbed, column),
            let floor = $0.ratio(Row.oneTime, Column.floor, toRow: Row.twoTime, Column.floor)
          else { return nil }
          return alone / floor
        },
      ]
    ) {
      Poster.all(.tallying(subscriberCount)).map { contestant($0, slice: scale.slice * 2) }
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
  static let oneDisturbedMore = "1, it captures, CPU ns"
  static let twoDisturbedMore = "2, it captures, CPU ns"
}

/// How many threads post, and what another one does meanwhile, again and again.
private struct Setting {
  let threads: Int
  var disturbance: (@Sendable (Poster) -> (@Sendable () -> Void)?)?
  /// For the clock on the wall; nil where that would tell of the scheduler.
  var wallRow: String?
  let timeRow: String

  static let all = [
    Setting(threads: 1, wallRow: Row.one, timeRow: Row.oneTime),
    Setting(threads: 2, wallRow: Row.two, timeRow: Row.twoTime),
    Setting(threads: 1, disturbance: \.subscribeAndCancel, timeRow: Row.oneDisturbed),
    Setting(threads: 2, disturbance: \.subscribeAndCancel, timeRow: Row.twoDisturbed),
    Setting(threads: 1, disturbance: \.subscribeAndCancelCapturing, timeRow: Row.oneDisturbedMore),
    Setting(threads: 2, disturbance: \.subscribeAndCancelCapturing, timeRow: Row.twoDisturbedMore),
  ]

  /// Whether a poster can do this.
  func suits(_ poster: Poster) -> Bool { disturbance.map { $0(poster) != nil } ?? true }
}

/// Measures each setting once a round, for a short time: the speed of a machine that is shared changes within a second, and what is
/// compared should have seen the same of it.
private func contestant(_ poster: Poster, slice: Duration) -> Contestant {
  let settings = Setting.all.filter { $0.suits(poster) }
  let pieces = 200
  func run(_ setting: Setting, _ count: Int) throws -> PostingRun {
    let run = PostingRun(threads: setting.threads, disturb: setting.disturbance?(poster), pieces: pieces) {
      poster.post(count)
    }
    let expected = setting.threads * pieces * count * subscriberCount
    try WorkNotDone.check(run.total, expected: expected, "\(poster.column), \(setting.threads) threads")
    return run
  }
  var calibrated: Int?
  return Contestant(poster.column) {
    let count = try calibrated ?? Stopwatch.calibrate(slice) { try run(settings[0], $0).cpuTime }
    calibrated = count
    let measured = try settings.map { setting in
      let run = try run(setting, count)
      // Of the posts of all threads together.
      let wall = run.pieces.calmMean! / Double(count * setting.threads)
      return (setting, wall: wall, time: run.cpuTime.nanoseconds / Double(count * pieces * setting.threads))
    }
    return measured.compactMap { setting, wall, _ in setting.wallRow.map { ($0, wall) } }
      + measured.map { setting, _, time in (setting.timeRow, time) }
  }
}
