import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// The program with a journal, in a terminal: it tells how the run before ended.
@Suite(.timeLimit(.hang)) struct PregTrackerJournalTests {
  /// The program under bash, with files of the test's own.
  private struct Setting {
    let terminal: PseudoTerminal
    let directory: TemporaryDirectory

    var journal: String { directory.file("runs.jsonl") }

    /// Starts the program, and waits until it is active.
    @discardableResult func start(journal: String? = nil) async throws -> TerminalScreen {
      try await clear()
      let files = "--state \(directory.file("state")) --journal \(journal ?? self.journal)"
      // A server that no test needs: its tips would only be in the way.
      terminal.line("\(builtProduct("PregTracker")) \(files) --due 2026-06-25 --tips 127.0.0.1:1")
      return try await terminal.waitForScreen(containing: "didBecomeActive")
    }

    /// Clears the screen: a program that was killed has left its own there.
    func clear() async throws {
      terminal.line("printf '\\033[H\\033[2J'")
      try await terminal.prompt()
    }

    /// Leaves the program, and returns what is to be read afterwards.
    func quit() async throws -> String {
      terminal.send("q")
      let output = try await terminal.prompt()
      #expect(try await terminal.status(in: .bash) == 0)
      return output
    }

    /// How the runs ended, as the tool says it.
    func endings() async throws -> [String] {
      let tool = try await runProgram([builtProduct("lifecycle"), "sessions", journal])
      #expect(tool.ending == .exited(0) && tool.errors == "")
      let rows = tool.output.split(separator: "\n")
      let title = try #require(rows.first)
      try #require(title.hasSuffix("  ENDED"))
      return rows.dropFirst().map { String($0.dropFirst(title.count - "ENDED".count)) }
    }
  }

  private func run(_ body: (Setting) async throws -> Void) async throws {
    try await withTemporaryDirectory { directory in
      // Wide enough for a notice on one line.
      try await Shell.bash.run(rows: 30, columns: 240) { terminal in
        try await body(Setting(terminal: terminal, directory: directory))
      }
    }
  }

  @Test(arguments: [
    (false, "killed in the foreground", "last state active"),
    (true, "killed while suspended", "last state suspended"),
  ])
  func `A run that SIGKILL ended is named by the next one, and one that ended with q is not`(
    stopped: Bool, ending: String, state: String
  ) async throws {
    try await run { setting in
      let terminal = setting.terminal
      #expect(try await setting.start().contains("previous run") == false)
      let group = try #require(terminal.foregroundGroup)
      if stopped {
        terminal.control("Z")
        try await terminal.prompt()
      }
      kill(group, SIGKILL)
      if stopped { terminal.line("wait -f %1") }
      try await terminal.prompt()

      let notice = "previous run: \(ending) (process \(group), \(state); last record "
      #expect(try await setting.start().contains(notice))
      #expect(try await setting.quit().contains("PregTracker: ") == false)
      #expect(try await setting.start().contains("previous run") == false)
      #expect(try await setting.quit().contains("PregTracker: ") == false)
      #expect(try await setting.endings() == [ending, "terminated", "terminated"])
    }
  }

  @Test func `A journal that another run writes is named, on the screen and when it is gone`() async throws {
    try await run { setting in
      try await setting.start()
      let first = try #require(setting.terminal.foregroundGroup)
      try await Shell.bash.run(rows: 30, columns: 240) { terminal in
        try await Setting(terminal: terminal, directory: setting.directory).start()
        let failure = "cannot lock \(setting.journal): process \(first) (PregTracker) writes it; "
        let screen = try await terminal.waitForScreen(
          containing: failure + "nothing is recorded until the journal can be written again")
        #expect(!screen.contains("previous run"))
        terminal.send("q")
        #expect(
          try await terminal.prompt().contains("PregTracker: \(failure)the journal may lack a part of this run"))
        #expect(try await terminal.status(in: .bash) == 0)
      }
      #expect(try await setting.endings() == ["still running"])
      _ = try await setting.quit()
      #expect(try await setting.endings() == ["terminated"])
    }
  }

  @Test func `A file that is no journal is named and left as it is, and tells of no run`() async throws {
    try await run { setting in
      try setting.directory.write("not a journal\n", to: "notes.txt")
      let notes = setting.directory.file("notes.txt")
      try await setting.start(journal: notes)
      let screen = try await setting.terminal.waitForScreen(containing: "cannot recognize \(notes): ")
      #expect(!screen.contains("previous run"))
      #expect(try await setting.quit().contains("PregTracker: cannot recognize \(notes): "))
      #expect(try readFile(notes) == "not a journal\n")
    }
  }

  @Test func `A journal that cannot be opened is named until it can be`() async throws {
    try await run { setting in
      let terminal = setting.terminal
      try setting.directory.write("", to: "place")
      try await setting.start(journal: setting.directory.file("place/runs.jsonl"))
      try await terminal.waitForScreen(
        containing: "cannot open \(setting.directory.file("place/runs.jsonl")): Not a directory; nothing is recorded")
      unlink(setting.directory.file("place"))
      terminal.control("Z")
      try await terminal.prompt()
      try await setting.clear()
      terminal.line("fg")
      try await terminal.waitForScreen("the table and no failure") {
        $0.contains("willEnterForeground") && !$0.contains("cannot open")
      }
      #expect(try await setting.quit().contains("PregTracker: ") == false)
    }
  }
}
