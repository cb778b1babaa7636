import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// What a program may write after a SIGSTOP, at which it can restore nothing: whose the terminal is decides, and not how long
/// that has been so.
@Suite(.serialized, .timeLimit(.hang)) struct TerminalOwnerTests {
  /// Stops the probe by SIGSTOP, and lets the shell have the terminal for longer than a program takes to be restored.
  private func stopForLong(_ probe: ProbeSession, _ terminal: PseudoTerminal, in shell: Shell) async throws {
    try await probe.isActive(visit: 1, on: terminal)
    try probe.signal(SIGSTOP)
    try await terminal.jobHasStopped(in: shell)
    terminal.plainLine("sleep 3")
    try await terminal.prompt()
    #expect(terminal.screen.showsAlternate)
  }

  private func endsAndLeaves(_ probe: ProbeSession, _ terminal: PseudoTerminal, in shell: Shell) async throws {
    try await probe.isNotRunning()
    try await ProcessTable.ending(of: try probe.pid())
    try await terminal.waitForScreen("the shell's own") { $0.isLeftInOrder(at: shell) }
    // The two signals may be taken one after the other; then the program leaves the foreground because of the first.
    #expect(probe.records.suffix(3) == Records.terminate("SIGTERM").lines[...])
  }

  @Test(arguments: [Shell.bash, .zsh]) func theShellEndsAStoppedJob(shell: Shell) async throws {
    try await shell.runProbe { probe, terminal in
      terminal.line(probe.command())
      try await stopForLong(probe, terminal, in: shell)
      // These shells continue the job, so that it can end.
      terminal.plainLine("kill %1")
      try await endsAndLeaves(probe, terminal, in: shell)
    }
  }

  @Test(arguments: Shell.allCases) func aStoppedJobIsEndedFromElsewhere(shell: Shell) async throws {
    try await shell.runProbe { probe, terminal in
      terminal.line(probe.command())
      try await stopForLong(probe, terminal, in: shell)
      try probe.signal(SIGTERM)
      try probe.signal(SIGCONT)
      try await endsAndLeaves(probe, terminal, in: shell)
    }
  }

  /// Dash leaves the modes as it finds them: they are the program's still, although another process has changed one.
  @Test func changedModesAreRestoredFromTheBackground() async throws {
    try await Shell.dash.runProbe { probe, terminal in
      let before = terminal.modes
      try await probe.launch(on: terminal)
      try terminal.change(.stoppedWriters)
      try probe.signal(SIGSTOP)
      try await terminal.jobHasStopped(in: .dash)
      try probe.signal(SIGTERM)
      try probe.signal(SIGCONT)
      try await endsAndLeaves(probe, terminal, in: .dash)
      #expect(terminal.modes == before)
    }
  }

  /// A program that sends signals is a job of its own, and has the terminal for a moment.
  @Test(arguments: Shell.allCases) func aStoppedJobIsEndedByAProgram(shell: Shell) async throws {
    try await shell.runProbe { probe, terminal in
      terminal.line(probe.command())
      try await stopForLong(probe, terminal, in: shell)
      let pid = try probe.pid()
      terminal.plainLine("sh -c 'kill -TERM \(pid); kill -CONT \(pid)'")
      try await endsAndLeaves(probe, terminal, in: shell)
    }
  }

  /// Another job has the terminal as the program goes on, for longer than the host waits for it.
  @Test(arguments: Shell.allCases) func aScreenBehindAnotherJobIsLeftAfterIt(shell: Shell) async throws {
    try await shell.runProbe { probe, terminal in
      terminal.line(probe.command("--modes"))
      try await probe.isActive(visit: 1, on: terminal)
      try probe.signal(SIGSTOP)
      try await terminal.jobHasStopped(in: shell)
      terminal.plainLine("sh -c 'kill -CONT \(try probe.pid()); sleep 3'")
      try await terminal.prompt()
      try await terminal.waitForScreen("the shell's own") { $0.isLeftInOrder(at: shell) }
      terminal.plainLine("fg")
      try await probe.isActive(visit: 2, on: terminal)
      terminal.send("q")
      try await terminal.prompt()
      // Nothing that has a stack was begun twice.
      #expect(terminal.screen.isLeftInOrder(at: shell), "\(terminal.screen)")
    }
  }

  /// The shell of the job is not always the one that leads the session.
  @Test func aShellInAShellEndsAStoppedJob() async throws {
    try await Shell.bash.runProbe { probe, terminal in
      terminal.line("bash --norc --noprofile -i")
      try await terminal.prompt()
      terminal.line(probe.command())
      try await stopForLong(probe, terminal, in: .bash)
      terminal.plainLine("kill %1")
      try await endsAndLeaves(probe, terminal, in: .bash)
    }
  }

  @Test(arguments: Shell.allCases) func aStoppedJobThatGoesOnInTheBackgroundLeaves(shell: Shell) async throws {
    try await shell.runProbe { probe, terminal in
      terminal.line(probe.command())
      try await stopForLong(probe, terminal, in: shell)
      terminal.plainLine("bg")
      try await terminal.prompt()
      try await terminal.waitForScreen("the shell's own") { $0.isLeftInOrder(at: shell) }
      try await probe.log.line(startingWith: "notification UIApplicationDidEnterBackgroundNotification")
      terminal.plainLine("fg")
      try await probe.isActive(visit: 2, on: terminal)
      terminal.send("q")
      try await terminal.prompt()
      #expect(terminal.screen.isLeftInOrder(at: shell))
    }
  }

  /// An ESC that has not been decided when the shell takes the terminal is no key of a background job.
  @Test func anEscapeThatIsHeldIsLostWithTheTerminal() async throws {
    try await Shell.dash.runProbe { probe, terminal in
      try await probe.launch("--escape-delay 2000", on: terminal)
      terminal.send("a\u{1B}")
      try await probe.log.line(startingWith: "input 61")
      try probe.signal(SIGSTOP)
      try await terminal.jobHasStopped(in: .dash)
      terminal.plainLine("bg")
      try await terminal.prompt()
      try await probe.log.line(startingWith: "notification UIApplicationDidEnterBackgroundNotification")
      terminal.plainLine("sleep 3")
      try await terminal.prompt()
      #expect(probe.input == "61")
      terminal.plainLine("fg")
      try await probe.isActive(visit: 2, on: terminal)
      terminal.send("q")
      try await terminal.prompt()
      #expect(probe.input == "6171")
    }
  }

  /// A job in the background has a message while another program has its screen: it is shown afterwards.
  @Test(arguments: [Shell.bash, .dash], [true, false])
  func aMessageWaitsForTheShellOrTheForeground(shell: Shell, byForeground: Bool) async throws {
    try await ProbeSession.run { probe in
      try probe.directory.write("a line of the other program\n", to: "text")
      try await shell.run(directory: probe.directory.path) { terminal in
        terminal.line(probe.command("--message-gate \(probe.gate.path)") + " &")
        try await probe.log.line(startingWith: "notification UIApplicationDidFinishLaunchingNotification background &")
        try await terminal.prompt()
        terminal.line("vim -u NONE text")
        try await terminal.waitForScreen(containing: "a line of the other program")
        terminal.send(":mark")
        try await terminal.waitForScreen(containing: "mark")
        try probe.gate.open()
        try await probe.log.line(startingWith: "message sent")
        // The host looks once a second whether it may show what it has kept.
        _ = try await runProgram(["sleep", "2"])
        terminal.send("%")
        try await terminal.wait(for: "%")
        #expect(!terminal.text.contains("a message of the host"))
        terminal.send("\u{1B}:q!\r" + (byForeground ? "fg\r" : ""))
        try await terminal.wait(for: "a message of the host")
      }
    }
  }

  /// Another program's screen: `less` and `vim` notice nothing of a job that ends behind them.
  @Test(arguments: Shell.allCases, ["less", "vim -u NONE"])
  func anotherProgramsScreenIsNotTouched(shell: Shell, other: String) async throws {
    try shell.isInstalledOrCancel()
    try await ProbeSession.run { probe in
      try probe.directory.write("a line of the other program\n", to: "text")
      try await shell.run(directory: probe.directory.path) { terminal in
        try await probe.launch(on: terminal)
        terminal.send("e")
        try await probe.log.line(startingWith: "input 65")
        try probe.signal(SIGSTOP)
        try await terminal.jobHasStopped(in: shell)
        terminal.plainLine("\(other) text")
        try await terminal.waitForScreen(containing: "a line of the other program")
        // The echo of a key says that all before it has been drawn.
        terminal.send(other == "less" ? "/mark" : ":mark")
        try await terminal.waitForScreen(containing: "mark")
        let before = terminal.text.count
        let pid = try probe.pid()
        try probe.signal(SIGTERM)
        try probe.signal(SIGCONT)
        try await ProcessTable.ending(of: pid)
        // Once more: what the probe wrote, if anything, was written before this. The shell may have told of the job's end.
        terminal.send("%")
        try await terminal.wait(for: "%")
        let written = terminal.text.dropFirst(before)
        #expect(!written.contains("\u{1B}[?") && !written.contains("standard error"), "\(written.debugDescription)")
        try await probe.isNotRunning()
      }
    }
  }
}

extension PseudoTerminal {
  /// Types a line with a line feed at its end: after a SIGSTOP a shell without a line editor may find a terminal that turns no
  /// return into one.
  func plainLine(_ text: String) { send(text + "\n") }
}
