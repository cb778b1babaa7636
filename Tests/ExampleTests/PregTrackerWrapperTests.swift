import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// Ctrl-Z while a wrapper is in the same job: the wrapper stops at once, and the shell takes the terminal.
///
/// The screen must have been left before that. `less` beside it shows that the harness asks for nothing unusual.
@Suite(.serialized, .timeLimit(.hang)) struct PregTrackerWrapperTests {
  @Test(arguments: Shell.allCases, Wrapper.allCases)
  func `Ctrl-Z leaves the screen before the shell prompts, and fg comes back`(
    shell: Shell, wrapper: Wrapper
  ) async throws {
    try shell.isInstalledOrCancel()
    try await wrapper.isUsableOrCancel()
    try await TrackerSession.run { tracker in
      try await shell.run(rows: 30, columns: 100) { terminal in
        let before = try await terminal.modesForPrograms()
        terminal.line(try wrapper.wrap(tracker.command, in: tracker.directory))
        try await tracker.isActive(on: terminal)
        try await tracker.setDate(on: terminal)

        terminal.control("Z")
        let printed = try await terminal.jobStops(in: shell)
        // Required: what follows would only wait for a shell whose terminal is broken.
        try #require(printed.contains("\u{1B}[?1049l"), "the screen was not left before the prompt")
        try #require(terminal.screen.isLeft)
        await ProcessTable.stopping(of: try tracker.pid(on: terminal))
        #expect(tracker.savedDate == TrackerSession.typedDate)
        #expect(try await terminal.modesForPrograms() == before)
        #expect(terminal.screen.isLeft)

        terminal.line("fg")
        try await tracker.isActive(visit: 2, on: terminal)
        terminal.send("q")
        try await terminal.prompt()
        #expect(try await terminal.status(in: shell) == 0)
        #expect(try await terminal.modesForPrograms() == before)
        #expect(terminal.screen.isLeft)
      }
      try await tracker.expectOrderlyEnd()
    }
  }

  /// Without a wrapper: under one, `less` may lose the terminal to the shell before it has left its screen, and now and then does.
  @Test(arguments: Shell.allCases) func `less does the same in the same harness`(shell: Shell) async throws {
    try shell.isInstalledOrCancel()
    try requireProgram("less")
    try await withTemporaryDirectory { directory in
      try directory.write("the first line\n" + String(repeating: "more\n", count: 100), to: "text")
      try await shell.run(rows: 30, columns: 100) { terminal in
        let before = try await terminal.modesForPrograms()
        terminal.line("less '\(directory.file("text"))'")
        try await terminal.waitForScreen("the text", within: .seconds(60)) {
          $0.showsAlternate && $0.contains("the first line")
        }

        terminal.control("Z")
        try await terminal.jobStops(in: shell)
        // Its handler leaves the screen: as soon as it runs, which the shell does not wait for.
        try await terminal.waitForScreen("the shell's screen", within: .seconds(60)) { $0.isLeft }
        #expect(try await terminal.modesForPrograms() == before)

        terminal.line("fg")
        try await terminal.waitForScreen("the text", within: .seconds(60)) {
          $0.showsAlternate && $0.contains("the first line")
        }
        terminal.send("q")
        try await terminal.prompt()
        #expect(try await terminal.status(in: shell) == 0)
        #expect(try await terminal.modesForPrograms() == before)
        #expect(terminal.screen.isLeft)
      }
    }
  }

  /// SIGTSTP comes from outside, to all at once: the handler leaves the screen before anything else happens.
  @Test(arguments: Shell.allCases) func `SIGTSTP to the whole job leaves the screen and the modes`(
    shell: Shell
  ) async throws {
    try shell.isInstalledOrCancel()
    try await TrackerSession.run { tracker in
      try await shell.run(rows: 30, columns: 100) { terminal in
        let before = try await terminal.modesForPrograms()
        terminal.line(tracker.command)
        try await tracker.isActive(on: terminal)
        let group = try #require(terminal.foregroundGroup)
        kill(-group, SIGTSTP)
        let printed = try await terminal.jobStops(in: shell)
        #expect(printed.contains("\u{1B}[?1049l"))
        #expect(try await terminal.modesForPrograms() == before)
        #expect(terminal.screen.isLeft)
        terminal.line("fg")
        try await tracker.isActive(visit: 2, on: terminal)
        terminal.send("q")
        try await terminal.prompt()
        #expect(try await terminal.status(in: shell) == 0)
      }
      try await tracker.expectOrderlyEnd(date: TrackerSession.commandLineDate)
    }
  }
}
