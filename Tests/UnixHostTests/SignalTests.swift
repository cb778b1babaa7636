import Glibc
import PseudoTerminal
import PubSub
import Scheduling
import TestTraits
import Testing

/// Signals that are no order: what stops a program without asking, what it was started to ignore.
@Suite(.serialized, .timeLimit(.hang)) struct SignalTests {
  /// SIGSTOP cannot be caught: the application is told nothing, but the screen is its own again.
  @Test func stoppedFromOutsideWithoutAShell() async throws {
    try await ProbeSession.run { probe in
      try await PseudoTerminal.run(probe.arguments()) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        try await probe.log.line(startingWith: "display")
        terminal.child.signal(SIGSTOP)
        #expect(try await terminal.child.nextEvent() == .stopped(SIGSTOP))
        terminal.child.signal(SIGCONT)
        #expect(try await terminal.child.nextEvent() == .continued)
        try await probe.log.line(startingWith: "display")
        terminal.child.signal(SIGTERM)
        #expect(try await terminal.child.nextEvent() == .exited(0))
      }
      probe.expectRecords(.launch(), .leave("SIGTERM"), .terminate("SIGTERM"))
    }
  }

  /// The shell sets its own modes and draws over the screen; on return both are made again.
  @Test(arguments: Shell.allCases) func stoppedFromOutsideUnderAShell(shell: Shell) async throws {
    try shell.isInstalledOrCancel()
    try await ProbeSession.run { probe in
      try await shell.run { terminal in
        try await probe.launch(on: terminal)
        try await probe.log.line(startingWith: "display")
        try probe.signal(SIGSTOP)
        try await terminal.jobHasStopped(in: shell)
        try await terminal.resetModes()
        terminal.line("fg")
        try await probe.log.line(startingWith: "display")
        try await terminal.waitForScreen("the probe's own") {
          $0.showsAlternate && $0.modes.contains(1004) && $0.lines[0] == "state active visit 1"
        }
        #expect(terminal.modes?.isCanonical == false && terminal.modes?.echoes == false)
        try await probe.quit(on: terminal)
        try await terminal.prompt()
        #expect(terminal.screen.isLeftInOrder(at: shell))
      }
      probe.expectRecords(.launch(), .quit("q"))
    }
  }

  /// Stopped in the foreground, continued in the background: another job has the terminal now, so the application leaves.
  @Test(arguments: [Shell.bash, .dash]) func stoppedFromOutsideAndContinuedInTheBackground(shell: Shell) async throws {
    try await ProbeSession.run { probe in
      try await shell.run { terminal in
        try await probe.launch(on: terminal)
        try probe.signal(SIGSTOP)
        try await terminal.jobHasStopped(in: shell)
        try await terminal.resetModes()
        terminal.line("bg")
        try await probe.log.line(startingWith: "notification UIApplicationDidEnterBackgroundNotification")
        try await terminal.prompt()
        try await probe.comeBack(visit: 2, on: terminal)
        try await probe.quit(on: terminal)
      }
      // Dash's `fg` sends SIGCONT: it may come before the host has heard that the application has left, and then counts as
      // one that took the leaving back.
      let isCounted = probe.records.contains("delegate applicationWillEnterForeground background SIGCONT")
      probe.expectRecords(
        .launch(), .leave("SIGCONT"), .comeBack(isCounted && shell == .dash ? "SIGCONT" : "fg"), .quit("q"))
    }
  }

  @Test(arguments: [(SIGTERM, "TERM"), (SIGINT, "INT"), (SIGHUP, "HUP"), (SIGTSTP, "TSTP"), (SIGABRT, "ABRT")])
  func whatWasIgnoredAtTheStartStaysIgnored(signal: Int32, name: String) async throws {
    try await ProbeSession.run { probe in
      let arguments = ["sh", "-c", "trap '' \(name); exec \"$@\"", "-"] + probe.arguments()
      try await PseudoTerminal.run(arguments) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        terminal.child.signal(signal)
        terminal.send("q")
        #expect(try await terminal.child.nextEvent() == .exited(0))
        #expect(!terminal.text.contains("cannot be stopped"))
      }
      probe.expectRecords(.launch(), .quit("q"))
    }
  }

  @Test func aPipeWithoutAReaderDoesNotEndIt() async throws {
    try await ProbeSession.run { probe in
      try await PseudoTerminal.run(probe.arguments()) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        terminal.child.signal(SIGPIPE)
        terminal.send("q")
        #expect(try await terminal.child.nextEvent() == .exited(0))
      }
      probe.expectRecords(.launch(), .quit("q"))
    }
  }

  /// A child that was forked without exec has the handlers of its parent, and must not act in its name.
  @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGPIPE])
  func aSignalToAForkedChildIsItsOwn(signal: Int32) async throws {
    try await ProbeSession.run { probe in
      let limited = ["sh", "-c", "ulimit -c 0; exec \"$@\"", "-"] + probe.arguments()
      // The backtracer handles SIGQUIT, and returns.
      try await PseudoTerminal.run(limited, environment: ["SWIFT_BACKTRACE": "enable=no"]) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        terminal.send("k")
        let line = try await probe.log.line(startingWith: "child ")
        let child = try #require(Int32(line.dropFirst("child ".count)))
        kill(child, signal)
        let ending = try await probe.log.line(startingWith: "child ")
        #expect(ending == "child killed by \(signal)")
        // An order in the pipe would come first.
        terminal.send("e")
        try await probe.log.line(startingWith: "input 65")
        terminal.send("q")
        #expect(try await terminal.child.nextEvent() == .exited(0))
      }
      probe.expectRecords(.launch(), .quit("q"))
    }
  }

  /// The program itself outlives such a write, whose error is enough.
  @Test func `A forked child ends by its own write beyond the limit for the size of files`() async throws {
    try await ProbeSession.run { probe in
      let limited = ["sh", "-c", "ulimit -c 0; exec \"$@\"", "-"] + probe.arguments()
      try await PseudoTerminal.run(limited) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        terminal.send("K")
        try await probe.log.line(startingWith: "child killed by \(SIGXFSZ)")
        terminal.send("q")
        #expect(try await terminal.child.nextEvent() == .exited(0))
      }
    }
  }

  /// A program blocks a signal in all its threads to wait for it in one; no thread of the host takes it.
  @Test func aSignalThatTheProgramWaitsForIsItsOwn() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      async let finished = runProgram(probe.arguments("--sigwait"))
      try await probe.log.line(startingWith: "acquire end")
      for _ in 0..<20 {
        try probe.signal(SIGUSR1)
        try await probe.log.line(startingWith: "sigwait \(SIGUSR1)")
      }
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
    }
  }

  /// Stops and continuations in quick succession, in an order that the printed seed repeats: afterwards it still answers, and
  /// no callback ever came out of order.
  @Test(arguments: 0..<4) func aStormOfStopsLeavesTheOrderIntact(_: Int) async throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SplitMix64(seed: seed)
    try await ProbeSession.run { probe in
      try await Shell.bash.run { terminal in
        terminal.line(probe.command() + " | cat")
        try await probe.isActive(visit: 1, on: terminal)
        let pid = try probe.pid()
        let group = try #require(ProcessTable.entry(pid)).group
        for _ in 0..<400 {
          // A pause of another length each time, so that the signals find the others at all kinds of places. Work, not a
          // wait: its length in time does not matter.
          for _ in 0..<Int.random(in: 0..<20_000, using: &generator) { _ = generator.next() }
          switch Int.random(in: 0..<4, using: &generator) {
          case 0: kill(-group, SIGTSTP)
          case 1: kill(pid, SIGTSTP)
          case 2: kill(-group, SIGCONT)
          default: kill(pid, SIGCONT)
          }
        }
        // A SIGCONT takes back a stop that has not happened yet; the one that follows SIGTERM ends whatever state it found.
        kill(pid, SIGTERM)
        kill(-group, SIGCONT)
        try await ProcessTable.ending(of: pid)
        #expect(probe.records.last == "state notRunning notRunning SIGTERM", "seed \(seed)")
      }
      let successors: [String: Set<String>] = [
        "applicationWillFinishLaunching": ["applicationDidFinishLaunching"],
        "applicationDidFinishLaunching": ["applicationDidBecomeActive"],
        "applicationDidBecomeActive": ["applicationWillResignActive"],
        "applicationWillResignActive": ["applicationDidEnterBackground"],
        "applicationDidEnterBackground": ["applicationWillEnterForeground", "applicationWillTerminate"],
        "applicationWillEnterForeground": ["applicationDidBecomeActive"],
      ]
      let calls = probe.records.filter { $0.hasPrefix("delegate ") }.map { String($0.split(separator: " ")[1]) }
      for (call, next) in zip(calls, calls.dropFirst()) {
        #expect(successors[call]?.contains(next) == true, "\(next) after \(call), seed \(seed)")
      }
    }
  }
}

extension PseudoTerminal {
  /// Makes the modes what the shell expects: not every shell does so itself when a job was stopped by SIGSTOP.
  fileprivate func resetModes() async throws {
    // A line feed: in the program's modes the return key would not become one.
    send("stty sane\n")
    try await prompt()
  }
}
