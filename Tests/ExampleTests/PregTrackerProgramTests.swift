import PseudoTerminal
import Testing

/// The program without a terminal, as a script or a pipe runs it.
@Suite struct PregTrackerProgramTests {
  private func run(_ arguments: String...) async throws -> FinishedProgram {
    try await runProgram([builtProduct("PregTracker")] + arguments)
  }

  @Test func `Without a terminal it plays a script, prints record and labels, and ends with status 0`() async throws {
    let program = try await run()
    #expect(program.ending == .exited(0))
    #expect(program.output.contains("call    applicationDidEnterBackground"))
    #expect(program.output.contains("Day 142 of 280 · week 20+2 · second trimester · 138 days to go"))
    #expect(program.output.contains("Day 143 of 280 · week 20+3 · second trimester · 137 days to go"))
    #expect(program.errors == "")
  }

  @Test func `A script, a due date and a calendar can be chosen, and the label left to go stale`() async throws {
    try await withTemporaryDirectory { directory in
      try directory.write("2026-02-07\n", to: "today")
      let arguments = [
        "--script", "launch; home; wait:1d; open", "--due", "2026-06-25", "--today-file", directory.file("today"),
      ]
      for (more, last) in [([], "Day 143 of 280 · week 20+3"), (["--stale"], "Day 142 of 280 · week 20+2")] {
        let program = try await runProgram([builtProduct("PregTracker")] + arguments + more)
        #expect(program.ending == .exited(0))
        #expect(program.output.split(separator: "\n").last?.contains(last) == true)
      }
    }
  }

  @Test func `A mistake in the script is placed, with status 2`() async throws {
    let program = try await run("--script", "launch\n  home; flyy")
    #expect(program.ending == .exited(2))
    #expect(program.errors.hasPrefix("2:9: "))
    #expect(program.errors.contains("flyy"))
    #expect(program.output == "")
  }

  @Test func `A bad option names itself, with status 64`() async throws {
    for (arguments, name) in [
      (["--due", "2026-02-30"], "“2026-02-30”"), (["--fast"], "“--fast”"), (["--tips", "x"], "“x”"),
    ] {
      let program = try await runProgram([builtProduct("PregTracker")] + arguments)
      #expect(program.ending == .exited(64))
      #expect(program.errors.contains(name))
      #expect(program.output == "")
    }
  }

  @Test func `A journal is refused without a terminal, and none is made`() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory.file("runs.jsonl")
      for arguments in [["--journal", path], ["--journal", path, "--script", "launch"]] {
        let program = try await runProgram([builtProduct("PregTracker")] + arguments)
        #expect(program.ending == .exited(64))
        #expect(program.errors.contains("--journal is for a run in a terminal"))
        #expect(program.output == "")
      }
      #expect(try fileNames(in: directory.path) == [])
    }
  }

  @Test func `Help is printed`() async throws {
    let program = try await run("--help")
    #expect(program.ending == .exited(0))
    #expect(program.output.hasPrefix("usage: PregTracker"))
    #expect(program.output.contains("--journal FILE"))
  }
}
