import BenchmarkHarness
import Testing

@Suite("Measuring in turn") struct InterleavingTests {
  private final class Log { var turns: [String] = [] }

  @Test("Contestants take turns, every other round backwards, and the first round does not count")
  func turns() throws {
    let log = Log()
    let contestants = ["a", "b", "c"].map { name in
      Contestant(name, row: "row") {
        log.turns.append(name)
        return Double(log.turns.count)
      }
    }
    let results = try Interleaving.measure(contestants, rounds: 2)
    #expect(log.turns == ["a", "b", "c", "a", "c", "b", "c", "a", "b"])
    #expect(results.columns == ["a", "b", "c"])
    #expect(results["row", "a"]?.values == [4, 8])
  }

  @Test("A contestant that did not do its work stops the run") func workNotDone() {
    var total = 0
    let idle = Contestant("idle", row: "row", slice: .zero, deliveries: 2, total: { total }, repeat: { total += $0 })
    #expect(throws: WorkNotDone.self) { try Interleaving.measure([idle], rounds: 1) }
  }

  @Test("A repetition is found that fills the slice") func calibration() {
    let count = Stopwatch.calibrate(.milliseconds(8)) { .microseconds($0) }
    #expect(count == 8_000)
    #expect(Stopwatch.calibrate(.milliseconds(8)) { _ in .seconds(1) } == 1)
  }
}
