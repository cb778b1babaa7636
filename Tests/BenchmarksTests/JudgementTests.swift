import BenchmarkHarness
import Testing

@Suite("Judging figures") struct JudgementTests {
  private func results(ours: [Double], floor: [Double]) -> Results {
    var results = Results()
    for value in ours { results.append(value, row: "to 1", column: "ours") }
    for value in floor { results.append(value, row: "to 1", column: "floor") }
    return results
  }

  @Test("A ratio is one of medians") func ratio() {
    let results = results(ours: [5, 6, 100], floor: [1, 3, 2])
    #expect(results.ratio("to 1", "ours", to: "floor") == 3)
    #expect(results.ratio("to 1", "ours", to: "boost") == nil)
    #expect(results.ratio("to 10", "ours", to: "floor") == nil)
  }

  @Test(
    "At most: within the aim, within the bound, beyond both",
    arguments: [
      (3.0, Judgement.Verdict.aimReached), (4, .boundReached), (4.01, .fallsShort),
    ]) func atMost(figure: Double, verdict: Judgement.Verdict)
  {
    let judgement = Judgement("to 1", "× floor", .atMost, 4, aim: 3) { $0.ratio("to 1", "ours", to: "floor") }
    #expect(judgement.verdict(in: results(ours: [figure], floor: [1])) == verdict)
  }

  @Test(
    "At least: within the aim, within the bound, beyond both",
    arguments: [
      (1.95, Judgement.Verdict.aimReached), (1.6, .boundReached), (1.59, .fallsShort),
    ]) func atLeast(figure: Double, verdict: Judgement.Verdict)
  {
    let judgement = Judgement("to 1", "×", .atLeast, 1.6, aim: 1.95) { $0.median("to 1", "ours") }
    #expect(judgement.verdict(in: results(ours: [figure], floor: [1])) == verdict)
  }

  @Test("What was not measured is neither reached nor missed") func notMeasured() {
    let judgement = Judgement("to 1", "× boost", .atMost, 1) { $0.ratio("to 1", "ours", to: "boost") }
    #expect(judgement.verdict(in: results(ours: [1], floor: [1])) == .notMeasured)
  }

  @Test("A ratio is the same on a machine of half the speed, and a figure in nanoseconds is not") func isRatio() {
    let results = results(ours: [7, 9], floor: [3])
    let ratio = Judgement("to 1", "× floor", .atMost, 4) { $0.ratio("to 1", "ours", to: "floor") }
    let absolute = Judgement("to 1", "ns", .atMost, 10) { $0.median("to 1", "ours") }
    #expect(ratio.isRatio(in: results))
    #expect(!absolute.isRatio(in: results))
    let unmeasured = Judgement("to 1", "× boost", .atMost, 1) { $0.ratio("to 1", "ours", to: "boost") }
    #expect(unmeasured.isRatio(in: results))
  }

  @Test("A section that judges a time by a fixed bound cannot be measured, unless it counts things") func notARatio()
    throws
  {
    func section(hasAbsoluteBounds: Bool) -> Section {
      Section(
        name: "posting", title: "Posting, ns", rounds: 1,
        judgements: [Judgement("to 1", "ns", .atMost, 10) { $0.median("to 1", "ours") }],
        hasAbsoluteBounds: hasAbsoluteBounds,
        contestants: { [Contestant("ours", row: "to 1") { 7 }] })
    }
    #expect(throws: NotARatio.self) { try section(hasAbsoluteBounds: false).measure() }
    #expect(try section(hasAbsoluteBounds: true).measure().median("to 1", "ours") == 7)
  }

  @Test("A ratio of two workloads, and the gain round by round") func acrossWorkloads() {
    var results = results(ours: [4, 8, 90], floor: [2, 4, 60])
    for value in [2.0, 1, 60] { results.append(value, row: "two threads", column: "ours") }
    #expect(results.ratio("two threads", "ours", toRow: "to 1", "floor") == 0.5)
    #expect(results.ratio("two threads", "floor", toRow: "to 1", "ours") == nil)
    #expect(results.gains("ours", from: "to 1", to: "two threads") == Samples([2, 8, 1.5]))
    #expect(results.gains("floor", from: "to 1", to: "two threads") == nil)
  }
}
