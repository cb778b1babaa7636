import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// Ctrl-Z, `fg`, `bg` and `&`, typed into real shells.
@Suite(.serialized, .timeLimit(.hang)) struct JobControlTests {
  @Test(arguments: Shell.allCases) func startStopContinueQuit(shell: Shell) async throws {
    try shell.isInstalledOrCancel()
    try await ProbeSession.run { probe in
      try await shell.run { terminal in
        try await probe.launch(on: terminal)
        #expect(terminal.screen.showsAlternate && !terminal.screen.showsCursor)
        #expect(terminal.screen.modes.isSuperset(of: [1004, 2004]))
        #expect(terminal.modes?.isCanonical == false && terminal.modes?.sendsSignals == false)

        try await terminal.stopJob(in: shell)
        #expect(terminal.screen.isLeftInOrder(at: shell))

        try await probe.comeBack(visit: 2, on: terminal)
        #expect(terminal.screen.showsAlternate)

        try await terminal.stopJob(in: shell)
        terminal.line("bg")
        try await probe.log.line(startingWith: "state background background bg")
        try await terminal.prompt()
        try await probe.comeBack(visit: 3, on: terminal)

        try await probe.quit(on: terminal)
        try await terminal.prompt()
        #expect(try await terminal.status(in: shell) == 0)
        #expect(terminal.screen.isLeftInOrder(at: shell))
      }
      probe.expectRecords(
        .launch(), .leave("Ctrl-Z"), .suspend("Ctrl-Z"), .wake("fg"), .comeBack("fg"), .leave("Ctrl-Z"),
        .suspend("Ctrl-Z"), .wake("bg"), .comeBack("fg"), .quit("q"))
    }
  }

  @Test(arguments: Shell.allCases) func startedInTheBackground(shell: Shell) async throws {
    try shell.isInstalledOrCancel()
    try await ProbeSession.run { probe in
      try await shell.run { terminal in
        terminal.line(probe.command() + " &")
        try await probe.log.line(startingWith: "notification UIApplicationDidFinishLaunchingNotification background &")
        try await terminal.prompt()
        // In the background it leaves the terminal alone.
        #expect(!terminal.screen.showsAlternate && !terminal.screen.modes.contains(1004))
        try await probe.comeBack(visit: 1, on: terminal)
        try await probe.quit(on: terminal)
        try await terminal.prompt()
      }
      probe.expectRecords(.launchInBackground("&"), .comeBack("fg"), .quit("q"))
    }
  }

  /// In a name space of process numbers, the group of a job that began outside has the number 0, as has that of the shell.
  @Test(arguments: [true, false]) func startedInTheBackgroundInANameSpace(comesBack: Bool) async throws {
    guard getuid() == 0 else {
      print("skipped in a name space: only root may make one here")
      try Test.cancel("only root may make a name space here")
    }
    try await Shell.bash.runProbe { probe, terminal in
      terminal.line("unshare --pid --fork --mount-proc \(probe.command()) &")
      try await probe.log.line(startingWith: "notification UIApplicationDidFinishLaunchingNotification background &")
      try await terminal.prompt()
      #expect(!terminal.screen.showsAlternate)
      if comesBack {
        try await probe.comeBack(visit: 1, on: terminal)
        try await probe.quit(on: terminal)
        try await terminal.prompt()
        probe.expectRecords(.launchInBackground("&"), .comeBack("fg"), .quit("q"))
      } else {
        terminal.line("kill %1")
        try await probe.isNotRunning()
        probe.expectRecords(.launchInBackground("&"), .terminate("SIGTERM"))
      }
    }
  }

  /// A background job that is stopped has nothing to tear down, and no terminal to give back.
  @Test(arguments: Shell.allCases) func stoppedInTheBackground(shell: Shell) async throws {
    try shell.isInstalledOrCancel()
    try await ProbeSession.run { probe in
      try await shell.run { terminal in
        if shell == .bash {
          // Let it tell of the stop at once.
          terminal.line("set -b")
          try await terminal.prompt()
        }
        terminal.line(probe.command() + " &")
        try await probe.log.line(startingWith: "notification UIApplicationDidFinishLaunchingNotification background &")
        try await terminal.prompt()
        try probe.signal(SIGTSTP)
        try await probe.log.line(startingWith: "state suspended")
        // The job has stopped once the shell knows. Dash does not tell, but its `wait` returns then.
        if shell == .dash {
          terminal.line("wait %1")
          try await terminal.prompt()
        } else {
          try await terminal.wait(for: shell.stopMark)
        }
        try await probe.comeBack(visit: 1, on: terminal)
        try await probe.quit(on: terminal)
      }
      probe.expectRecords(
        .launchInBackground("&"), .suspend("SIGTSTP"), .wake("fg"), .comeBack("fg"), .quit("q"))
    }
  }

  /// The whole job stops and goes on, whichever process of it was told to stop; else the shell would wait for ever for the rest.
  @Test(arguments: Shell.allCases, [true, false]) func aPipelineStopsAsAWhole(
    shell: Shell, byKey: Bool
  ) async throws {
    try shell.isInstalledOrCancel()
    let cause = byKey ? "Ctrl-Z" : "SIGTSTP"
    try await ProbeSession.run { probe in
      try await shell.run { terminal in
        terminal.line(probe.command() + " | sh -c 'echo reader $((1 + 1)); exec cat'")
        // A shell's child that is not a program of its own yet ignores what the shell ignores: SIGTSTP, if it is dash.
        try await terminal.wait(for: "reader 2")
        try await probe.isActive(visit: 1, on: terminal)
        if byKey { terminal.control("Z") } else { try probe.signal(SIGTSTP) }
        try await terminal.jobHasStopped(in: shell)
        try await probe.comeBack(visit: 2, on: terminal)
        try await probe.quit(on: terminal)
        // The prompt comes only when the reader has ended, too.
        try await terminal.prompt()
      }
      probe.expectRecords(
        .launch(), .leave(cause), .suspend(cause), .wake("fg"), .comeBack("fg"), .quit("q"))
    }
  }

  private static let scriptRounds = 10

  @Test(arguments: Shell.allCases) func aScriptStopsWithTheProgramItRuns(shell: Shell) async throws {
    try shell.isInstalledOrCancel()
    try await ProbeSession.run { probe in
      try probe.directory.write("\(probe.command())\necho after the program\n", to: "script")
      try await shell.run(directory: probe.directory.path) { terminal in
        terminal.line("sh ./script")
        // The shell continues the job as soon as the script has stopped. More than once: that must never be before the
        // program has stopped, which would then stay behind.
        for visit in 1...Self.scriptRounds {
          try await probe.isActive(visit: visit, on: terminal)
          try probe.signal(SIGTSTP)
          try await terminal.jobHasStopped(in: shell)
          terminal.line("fg")
        }
        try await probe.isActive(visit: Self.scriptRounds + 1, on: terminal)
        try await probe.quit(on: terminal)
        try await terminal.wait(for: "after the program")
      }
      let round: [Records] = [.leave("SIGTSTP"), .suspend("SIGTSTP"), .wake("fg"), .comeBack("fg")]
      probe.expectRecords(
        [.launch()] + Array(repeating: round, count: Self.scriptRounds).joined() + [.quit("q")])
    }
  }

  /// No process could continue a program without a shell: the kernel refuses to stop it, and nothing is torn down for that.
  @Test func aProgramWithoutAShellIsNotTornDown() async throws {
    try await ProbeSession.run { probe in
      try await PseudoTerminal.run(probe.arguments()) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        terminal.control("Z")
        // Signals are taken before keys: when this key has arrived, the stop was decided on.
        terminal.send("z")
        try await probe.log.line(startingWith: "input 7A")
        terminal.send("q")
        try await terminal.wait(for: "cannot be stopped here")
        #expect(try await terminal.child.nextEvent() == .exited(0))
      }
      probe.expectRecords(.launch(), .quit("q"))
    }
  }

  /// Its parent is gone, and with it the process that could continue it.
  @Test(arguments: [Shell.bash, .dash]) func anOrphanIsNotTornDown(shell: Shell) async throws {
    try await ProbeSession.run { probe in
      try await shell.run { terminal in
        // The gate keeps it from starting before the shell has taken the terminal back.
        terminal.line("(sh -c 'head -c 1 \(probe.gate.path) >/dev/null; exec \"$@\"' - \(probe.command()) &)")
        try await terminal.prompt()
        try probe.gate.open()
        try await probe.log.line(startingWith: "notification UIApplicationDidFinishLaunchingNotification background &")
        try probe.signal(SIGTSTP)
        try await terminal.wait(for: "cannot be stopped here")
        try probe.signal(SIGTERM)
        try await ProcessTable.ending(of: try probe.pid())
      }
      probe.expectRecords(.launchInBackground("&"), .terminate("SIGTERM"))
    }
  }

  /// The window may have changed while the program could not hear of it.
  @Test func theSizeIsReadAgainOnReturn() async throws {
    try await Shell.dash.runProbe { probe, terminal in
      try await probe.launch(on: terminal)
      try await probe.log.line(startingWith: "display 24x80")
      try await terminal.stopJob(in: .dash)
      terminal.resize(rows: 11, columns: 33)
      terminal.line("fg")
      try await probe.log.line(startingWith: "display 11x33")
      terminal.resize(rows: 12, columns: 34)
      try await probe.log.line(startingWith: "display 12x34")
    }
  }

  /// A main actor that is busy while the window is dragged draws the last size only.
  @Test func manyChangesOfTheSizeAreOneDrawing() async throws {
    try await Shell.dash.runProbe { probe, terminal in
      try await probe.launch("--key-gate \(probe.gate.path)", on: terminal)
      try await probe.log.line(startingWith: "display 24x80")
      terminal.send("b")
      try await probe.log.line(startingWith: "blocked")
      for columns in 100...1_100 { terminal.resize(rows: 11, columns: columns) }
      try probe.gate.open()
      try await probe.log.line(startingWith: "display 11x1100")
      // The host may still be taking the signals as the gate opens; each of them would be a drawing.
      #expect(probe.log.lines.count { $0.hasPrefix("display") } < 20)
    }
  }

  /// A mode that another process changes while the program has the terminal is no reason to take the program's for the shell's.
  @Test(arguments: [SIGSTOP, SIGCONT]) func changedRawModesAreNotTheShells(signal: Int32) async throws {
    try await Shell.dash.runProbe { probe, terminal in
      let before = terminal.modes
      try await probe.launch(on: terminal)
      try await probe.log.line(startingWith: "display")
      try terminal.change(.otherEraseKey)
      try terminal.change(.rawOutput)
      try probe.signal(signal)
      if signal == SIGSTOP {
        try await terminal.jobHasStopped(in: .dash)
        // Dash leaves the terminal in the program's modes, where the return key gives another character.
        terminal.send("fg\n")
      }
      try await probe.log.line(startingWith: "display")
      try await probe.quit(on: terminal)
      try await terminal.prompt()
      #expect(terminal.modes == before)
    }
  }

  /// What the shell set while the program was stopped is what the program gives back at its end.
  @Test func modesThatTheShellSetMeanwhileAreKept() async throws {
    try await Shell.dash.runProbe { probe, terminal in
      let before = terminal.modes
      try await probe.launch(on: terminal)
      try await terminal.stopJob(in: .dash)
      #expect(terminal.modes == before)
      terminal.line("stty -echo")
      try await terminal.prompt()
      let changed = terminal.modes
      #expect(changed != before)
      try await probe.comeBack(visit: 2, on: terminal)
      terminal.send("q")
      try await terminal.prompt()
      #expect(terminal.modes == changed)
    }
  }

  /// A program in cooked mode has the shell's modes, special characters included.
  @Test func specialCharactersThatTheShellSetMeanwhileAreKept() async throws {
    try await Shell.dash.runProbe { probe, terminal in
      try await probe.launch("--cooked", on: terminal)
      try await terminal.stopJob(in: .dash)
      let before = terminal.modes
      terminal.line("stty erase ^H intr ^X")
      try await terminal.prompt()
      let changed = terminal.modes
      #expect(changed != before)
      try await probe.comeBack(visit: 2, on: terminal)
      #expect(terminal.modes == changed)
      terminal.line("q")
      try await terminal.prompt()
      #expect(terminal.modes == changed)
    }
  }

  // MARK: While it is being torn down

  @Test(arguments: [Shell.bash, .dash]) func aSecondStopDuringTheTearDownIsOne(shell: Shell) async throws {
    try await ProbeSession.run { probe in
      try await shell.run { terminal in
        try await probe.launch(probe.gateOptions, on: terminal)
        terminal.control("Z")
        try await probe.log.line(startingWith: "release begin")
        try probe.signal(SIGTSTP)
        terminal.control("Z")
        try probe.gate.open(2)
        try await terminal.jobHasStopped(in: shell)
        try await probe.comeBack(visit: 2, on: terminal)
        // Had the second stop been kept, it would come now, and not the key.
        try await probe.quit(on: terminal)
      }
      probe.expectRecords(
        .launch(), .leave("Ctrl-Z"), .suspend("Ctrl-Z"), .wake("fg"), .comeBack("fg"), .quit("q"))
    }
  }

  @Test(arguments: [Shell.bash, .dash]) func aContinueDuringTheTearDownCancelsTheStop(shell: Shell) async throws {
    try await ProbeSession.run { probe in
      try await shell.run { terminal in
        try await probe.launch(probe.gateOptions, on: terminal)
        terminal.control("Z")
        try await probe.log.line(startingWith: "release begin")
        try probe.signal(SIGCONT)
        // The gate stays shut: the return cancels what is being released.
        try await probe.log.line(startingWith: "release cancelled")
        try await probe.isActive(visit: 2, on: terminal)
        try probe.gate.open()
        try await probe.quit(on: terminal)
        try await terminal.prompt()
        #expect(!terminal.text.contains(shell.stopMark))
      }
      probe.expectRecords(.launch(), .leave("Ctrl-Z"), .comeBack("SIGCONT"), .quit("q"))
    }
  }

  @Test(arguments: [Shell.bash, .dash]) func anOrderToEndDuringTheTearDownFollowsIt(shell: Shell) async throws {
    try await ProbeSession.run { probe in
      try await shell.run { terminal in
        try await probe.launch(probe.gateOptions, on: terminal)
        terminal.control("Z")
        try await probe.log.line(startingWith: "release begin")
        try probe.signal(SIGTERM)
        try probe.gate.open()
        try await probe.isNotRunning()
        try await terminal.prompt()
        #expect(try await terminal.status(in: shell) == 0)
        #expect(!terminal.text.contains(shell.stopMark))
      }
      // The host's thread may take the signal up only when the suspension is complete.
      let wasSuspended = probe.records.contains { $0.hasPrefix("state suspended") }
      let between: [Records] = wasSuspended ? [.suspend("Ctrl-Z"), .wake("SIGTERM")] : []
      probe.expectRecords([.launch(), .leave("Ctrl-Z")] + between + [.terminate("SIGTERM")])
    }
  }
}
