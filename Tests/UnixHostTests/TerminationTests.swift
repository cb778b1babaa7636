import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// Every way in which a program is told to end: in full order, with status 0, and never with a terminal left raw.
@Suite(.serialized, .timeLimit(.hang)) struct TerminationTests {
  /// Runs the probe directly on a terminal, where its modes and its exact status can be seen.
  private func onTerminal(
    _ options: String..., body: (ProbeSession, PseudoTerminal) async throws -> ChildEvent
  ) async throws -> ChildEvent {
    try await ProbeSession.run { probe in
      let arguments = probe.arguments("--budget", ProbeSession.longBudget, "--gate", probe.gate.path) + options
      return try await PseudoTerminal.run(arguments, directory: probe.directory.path) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        #expect(terminal.modes != terminal.initialModes)
        let ending = try await body(probe, terminal)
        // The leave sequence was written before the end; reading on to the end of all output makes sure it is here.
        try await terminal.outputHasEnded()
        #expect(terminal.modes == terminal.initialModes)
        #expect(terminal.screen.isLeftInOrder())
        return ending
      }
    }
  }

  @Test(arguments: [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT"), (SIGHUP, "SIGHUP")])
  func aSignalWhileActiveEndsItInFullOrder(signal: Int32, cause: String) async throws {
    let ending = try await onTerminal { probe, terminal in
      try probe.gate.open()
      terminal.child.signal(signal)
      let ending = try await terminal.child.nextEvent()
      probe.expectRecords(.launch(), .leave(cause), .terminate(cause))
      return ending
    }
    #expect(ending == .exited(0))
  }

  @Test func controlCEndsItInFullOrder() async throws {
    let ending = try await onTerminal { probe, terminal in
      try probe.gate.open()
      terminal.control("C")
      let ending = try await terminal.child.nextEvent()
      probe.expectRecords(.launch(), .quit("Ctrl-C"))
      return ending
    }
    #expect(ending == .exited(0))
  }

  @Test func theProgramEndsItselfInFullOrder() async throws {
    let ending = try await onTerminal { probe, terminal in
      terminal.send("q")
      try await probe.log.line(startingWith: "release begin")
      try probe.gate.open()
      let ending = try await terminal.child.nextEvent()
      probe.expectRecords(.launch(), .quit("q"))
      return ending
    }
    #expect(ending == .exited(0))
  }

  /// The same, where the delegate's own `main` hosts it, as `@main` does.
  @Test func theDelegatesOwnMainExitsWithStatusZero() async throws {
    try await ProbeSession.run { probe in
      try await PseudoTerminal.run(probe.arguments("--main")) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        terminal.child.signal(SIGTERM)
        #expect(try await terminal.child.nextEvent() == .exited(0))
        try await terminal.outputHasEnded()
        #expect(terminal.screen.isLeftInOrder())
      }
      // The recorder is set in the first callback: all but the first records are there.
      #expect(probe.records.last == "state notRunning notRunning SIGTERM")
    }
  }

  /// A supervisor repeats its order while the program saves.
  @Test(arguments: [(SIGTERM, SIGTERM), (SIGINT, SIGINT), (SIGTERM, SIGINT), (SIGHUP, SIGTERM)])
  func aRepeatedOrderLetsItSave(first: Int32, second: Int32) async throws {
    let ending = try await onTerminal { probe, terminal in
      terminal.child.signal(first)
      try await probe.log.line(startingWith: "release begin")
      for _ in 0..<2 {
        try await copiesHaveCome(since: .now)
        terminal.child.signal(second)
      }
      try probe.gate.open()
      let ending = try await terminal.child.ending()
      #expect(probe.log.lines.contains("release end"))
      return ending
    }
    #expect(ending == .exited(0))
  }

  /// The terminal was given back, so the kernel makes a signal of the key.
  @Test func aSecondKeyEndsItAtOnce() async throws {
    let ending = try await onTerminal { probe, terminal in
      terminal.child.signal(SIGTERM)
      try await probe.log.line(startingWith: "release begin")
      // The gate stays shut: only the key can end it.
      while true {
        terminal.control("C")
        if let ending = try? await terminal.child.ending(within: .milliseconds(100)) { return ending }
        try Task.checkCancellation()
      }
    }
    #expect(ending == .killed(SIGINT))
  }

  @Test(arguments: [(SIGHUP, SIGQUIT), (SIGTERM, SIGTERM)])
  func aSecondOrderThatInsistsEndsItAtOnce(first: Int32, second: Int32) async throws {
    let ending = try await onTerminal("--insist-at", "SIGTERM") { probe, terminal in
      terminal.child.signal(first)
      try await probe.log.line(startingWith: "release begin")
      // The gate stays shut: only the signal can end it.
      return try await terminal.child.insist(on: second)
    }
    #expect(ending == .killed(second))
  }

  @Test func controlBackslashIsTheEmergencyExit() async throws {
    let ending = try await onTerminal { probe, terminal in
      terminal.control("\\")
      let ending = try await terminal.child.nextEvent()
      probe.expectRecords(.launch())
      return ending
    }
    #expect(ending == .killed(SIGQUIT))
  }

  /// Shells send both to their jobs: together they are one order.
  @Test(arguments: [(SIGHUP, SIGTERM), (SIGTERM, SIGHUP), (SIGHUP, SIGHUP)])
  func aHangUpNeverCountsAsASecondOrder(first: Int32, second: Int32) async throws {
    let ending = try await onTerminal { probe, terminal in
      terminal.child.signal(first)
      try await probe.log.line(startingWith: "release begin")
      terminal.child.signal(second)
      try probe.gate.open()
      let ending = try await terminal.child.nextEvent()
      let cause = first == SIGHUP ? "SIGHUP" : "SIGTERM"
      probe.expectRecords(.launch(), .leave(cause), .terminate(cause))
      return ending
    }
    #expect(ending == .exited(0))
  }

  /// A program without a screen gives the modes back before the tear-down, and goes on to write lines.
  @Test func theLastLineOfAProgramWithoutAScreenIsWritten() async throws {
    try await ProbeSession.run { probe in
      try await PseudoTerminal.run(probe.arguments("--plain")) { terminal in
        try await terminal.wait(for: "state active visit 1")
        terminal.send("q")
        #expect(try await terminal.child.nextEvent() == .exited(0))
        try await terminal.outputHasEnded()
        #expect(terminal.text.contains("farewell"))
        #expect(terminal.modes == terminal.initialModes)
      }
    }
  }

  @Test func exitRestoresTheTerminal() async throws {
    let ending = try await onTerminal { _, terminal in
      terminal.send("x")
      return try await terminal.child.nextEvent()
    }
    #expect(ending == .exited(5))
  }

  // MARK: Under a shell

  enum Order: String, CaseIterable {
    /// A signal from another process, then `fg`.
    case signalThenForeground
    /// A signal from another process, then `bg`.
    case signalThenBackground
    /// The shell's own `kill` of the job.
    case shellsKill
  }

  @Test(arguments: Shell.allCases, Order.allCases)
  func toldToEndWhileStopped(shell: Shell, order: Order) async throws {
    try shell.isInstalledOrCancel()
    try await ProbeSession.run { probe in
      try await shell.run { terminal in
        try await probe.launch(on: terminal)
        try await terminal.stopJob(in: shell)
        switch order {
        case .signalThenForeground:
          try probe.signal(SIGTERM)
          terminal.line("fg")
        case .signalThenBackground:
          try probe.signal(SIGTERM)
          terminal.line("bg")
        case .shellsKill:
          let job = shell == .fish ? "(jobs -p)" : "%1"
          terminal.line("kill \(job)")
          try await terminal.prompt()
          // Not every shell's `kill` continues a stopped job; continuing one that runs or has ended does no harm.
          terminal.line("kill -CONT \(job)")
        }
        try await probe.isNotRunning()
        try await terminal.prompt()
        if order == .signalThenForeground { #expect(try await terminal.status(in: shell) == 0) }
        try await ProcessTable.ending(of: try probe.pid())
        #expect(!terminal.screen.showsAlternate)
      }
      probe.expectRecords(
        .launch(), .leave("Ctrl-Z"), .suspend("Ctrl-Z"), .wake("SIGTERM"), .terminate("SIGTERM"))
    }
  }

  @Test(arguments: Shell.allCases) func toldToEndInTheBackground(shell: Shell) async throws {
    try shell.isInstalledOrCancel()
    try await ProbeSession.run { probe in
      try await shell.run { terminal in
        terminal.line(probe.command() + " &")
        try await probe.log.line(startingWith: "notification UIApplicationDidFinishLaunchingNotification background &")
        try await terminal.prompt()
        try probe.signal(SIGTERM)
        try await ProcessTable.ending(of: try probe.pid())
        #expect(!terminal.screen.showsAlternate)
      }
      probe.expectRecords(.launchInBackground("&"), .terminate("SIGTERM"))
    }
  }

  @Test(arguments: Shell.allCases) func theShellSeesStatus143AfterTheSecondOrder(shell: Shell) async throws {
    try await shell.runProbe { probe, terminal in
      try await probe.launch(probe.gateOptions, "--insist-at SIGTERM", on: terminal)
      try probe.signal(SIGTERM)
      try await probe.log.line(startingWith: "release begin")
      try await probe.insist(on: SIGTERM)
      try await terminal.prompt()
      let status = try await terminal.status(in: shell)
      #expect(status == 128 + SIGTERM, "\(probe.log.lines.joined(separator: "\n"))")
      #expect(terminal.screen.isLeftInOrder(at: shell))
    }
  }

  // MARK: Without a terminal

  @Test func withoutATerminalItIsLaunchedInTheBackground() async throws {
    try await ProbeSession.run { probe in
      // `setsid` gives the program a session without a terminal, and waits for it.
      let arguments = ["setsid", "--wait"] + probe.arguments()
      async let finished = runProgram(arguments)
      try await probe.log.line(startingWith: "notification UIApplicationDidFinishLaunchingNotification")
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
      probe.expectRecords(.launchInBackground("launch"), .terminate("SIGTERM"))
    }
  }
}
