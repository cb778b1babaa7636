import Glibc
import PseudoTerminal
import Testing

/// Ctrl-Z, `fg`, `bg` and `&`, typed into real shells.
@Suite(.serialized, .timeLimit(.minutes(3))) struct JobControlTests {
  @Test(arguments: Shell.allCases) func startStopContinueQuit(shell: Shell) async throws {
    try shell.isInstalledOrCancel()
    try await ProbeSession.run { probe in
      try await shell.run { terminal in
        terminal.line(probe.command())
        try await probe.isActive(visit: 1, on: terminal)
        #expect(terminal.screen.showsAlternate && !terminal.screen.showsCursor)
        #expect(terminal.screen.modes.isSuperset(of: [1004, 2004]))
        #expect(terminal.modes?.isCanonical == false && terminal.modes?.sendsSignals == true)

        terminal.control("Z")
        try await terminal.jobHasStopped(in: shell)
        #expect(terminal.screen.isLeftInOrder(at: shell))

        terminal.line("fg")
        try await probe.isActive(visit: 2, on: terminal)
        #expect(terminal.screen.showsAlternate)

        terminal.control("Z")
        try await terminal.jobHasStopped(in: shell)
        terminal.line("bg")
        // The wake tells that it runs; the prompt, that the shell takes the next command.
        try await probe.log.line(startingWith: "state background background bg")
        terminal.line("fg")
        try await probe.isActive(visit: 3, on: terminal)

        terminal.send("q")
        try await probe.isNotRunning()
        try await terminal.prompt()
        #expect(try await terminal.status(in: shell) == 0)
        #expect(terminal.screen.isLeftInOrder(at: shell))
      }
      probe.expectRecords(
        .launch(), .leave("Ctrl-Z"), .suspend("Ctrl-Z"), .wake("fg"), .comeBack("fg"), .leave("Ctrl-Z"),
        .suspend("Ctrl-Z"), .wake("bg"), .comeBack("fg"), .leave("q"), .terminate("q"))
    }
  }

  @Test(arguments: Shell.allCases) func startedInTheBackground(shell: Shell) async throws {
    try shell.isInstalledOrCancel()
    try await ProbeSession.run { probe in
      try await shell.run { terminal in
        terminal.line(probe.command() + " &")
        try await probe.log.line(startingWith: "notification UIApplicationDidFinishLaunchingNotification background &")
        #expect(!terminal.screen.showsAlternate)
        terminal.line("fg")
        try await probe.isActive(visit: 1, on: terminal)
        terminal.send("q")
        try await probe.isNotRunning()
        try await terminal.prompt()
      }
      probe.expectRecords(.launchInBackground("&"), .comeBack("fg"), .leave("q"), .terminate("q"))
    }
  }
}
