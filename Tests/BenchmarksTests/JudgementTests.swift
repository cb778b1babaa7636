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
}
