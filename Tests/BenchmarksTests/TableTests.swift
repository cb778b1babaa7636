import BenchmarkHarness
import Testing

@Suite("The table") struct TableTests {
  @Test(
    "Figures have about three digits",
    arguments: [
      (0.0, "0"), (1.234, "1.23"), (9.996, "10.00"), (12.34, "12.3"), (123.4, "123"), (12_345, "12345"),
      (123_456, "123k"), (-0.25, "-0.25"), (-0.001, "0.00"), (1.05, "1.05"),
    ]) func figures(value: Double, text: String)
  {
    #expect(Table.format(value) == text)
  }

  @Test("A workload's judgements stand behind and below its figures") func lines() {
    let section = Section(
      name: "posting", title: "Posting, ns", rounds: 1,
      judgements: [
        Judgement("to 1", "× floor", .atMost, 4, aim: 3) { $0.ratio("to 1", "ours", to: "floor") },
        Judgement("to 1", "ns", .atMost, 3) { $0.median("to 1", "ours") },
      ], contestants: { [] })
    var results = Results()
    results.append(2, row: "to 1", column: "floor")
    results.append(7, row: "to 1", column: "ours")
    results.append(20, row: "to 10", column: "floor")
    #expect(
      Table.lines(section, results) == [
        "Posting, ns",
        "        floor    ours ratio          bound    aim verdict",
        "to 1     2.00    7.00  3.50 × floor ≤ 4.00 ≤ 3.00      ok",
        "                       7.00 ns      ≤ 3.00 ≤ 3.00   SHORT",
        "to 10    20.0       –",
      ])
    #expect(Table.sentence(section, section.judgements[1], results) == "posting, to 1: 7.00 ns, must be ≤ 3.00")
  }
}
