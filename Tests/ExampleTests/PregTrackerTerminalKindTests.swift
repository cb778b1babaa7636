import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// Terminals in which the program has no screen: one that cannot show any, and one that is not its own.
@Suite(.serialized, .timeLimit(.hang)) struct PregTrackerTerminalKindTests {
  @Test func `A dumb terminal is refused with a reason, and without an escape sequence`() async throws {
    try await TrackerSession.run { tracker in
      try await PseudoTerminal.run(tracker.arguments(), environment: ["TERM": "dumb"]) { terminal in
        #expect(try await terminal.child.ending(within: .seconds(60)) == .exited(EX_UNAVAILABLE))
        try await terminal.outputHasEnded()
        #expect(terminal.text.contains("dumb"))
        #expect(!terminal.text.contains("\u{1B}"))
        #expect(terminal.modes == terminal.initialModes)
      }
    }
  }

  /// `setsid` gives it a session of its own: the terminal is open, and not its own.
  @Test(arguments: [Shell.bash, .dash]) func `Without a controlling terminal it says so, and ends with the terminal`(
    shell: Shell
  ) async throws {
    try requireProgram("setsid")
    try await TrackerSession.run { tracker in
      let note = tracker.directory.file("pid")
      var pid: Int32?
      // No process of the terminal's session, so that the harness does not end it.
      defer { if let pid, ProcessTable.entry(pid)?.session == pid { kill(pid, SIGKILL) } }
      try await shell.run(rows: 30, columns: 200) { terminal in
        terminal.line("setsid sh -c 'echo $$ >\(note); exec \"$@\"' - \(tracker.command)")
        defer { pid = (try? readFile(note)).flatMap { Int32($0.dropLast()) } }
        try await terminal.wait(for: "without a controlling terminal", within: .seconds(60))
        #expect(!terminal.screen.showsAlternate)
      }
      // The terminal is gone by now.
      try await ProcessTable.ending(of: try #require(pid), within: .seconds(60))
      #expect(try await tracker.endings() == ["terminated"])
    }
  }
}
