import BenchmarkHarness
import Testing

@Suite("The command line") struct OptionsTests {
  @Test("Every option") func all() throws {
    let arguments = ["--quick", "--only", "posting", "--only", "memory", "--check", "--json", "run.json"]
    let options = try Options(arguments, sections: ["posting", "memory"])
    #expect(options.isQuick && options.checks && !options.wantsHelp)
    #expect(options.only == ["posting", "memory"])
    #expect(options.jsonPath == "run.json")
  }

  @Test("What cannot be understood", arguments: [["--only", "nonsense"], ["--json"], ["--fast"]])
  func misuse(arguments: [String]) {
    #expect(throws: Options.Misuse.self) { try Options(arguments, sections: ["posting"]) }
  }
}
