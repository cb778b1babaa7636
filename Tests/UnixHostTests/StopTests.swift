import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// Stops by SIGSTOP in the middle of what has a limit, done to a real program: the time of a stop does not count.
@Suite(.serialized, .timeLimit(.hang)) struct StopTests {
  /// Budgets of five seconds, as the interval of the checks; the stops are longer.
  private static let budget = ["--budget", "5000"]

  /// The option with which the probe stops itself behind a line of its log.
  private func stopping(at line: String) -> [String] { ["--signal-at", "\(SIGSTOP):\(line)"] }

  /// Waits for longer than any limit of the probe once it has stopped itself, runs `body`, and continues it.
  private func outlast(_ probe: ProbeSession, _ body: () throws -> Void = {}) async throws {
    await ProcessTable.stopping(of: try probe.pid())
    _ = try await runProgram(["sleep", "9"])
    try body()
    try probe.signal(SIGCONT)
  }

  /// Runs a service that waits at its gate, once a signal has brought it there and it has stopped; the gate is open after
  /// the stop, or never.
  private func runService(
    gate: String, opens: Bool = true, after signal: Int32, at line: String,
    _ body: (ProbeSession) async throws -> Void = { _ in }, check: (ProbeSession, FinishedProgram) -> Void
  ) async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      async let finished = runProgram(probe.arguments(gate, probe.gate.path) + Self.budget + stopping(at: line))
      try await probe.log.line(startingWith: "acquire end")
      try probe.signal(signal)
      try await probe.log.line(startingWith: line)
      try await outlast(probe) { if opens { try probe.gate.open() } }
      try await body(probe)
      check(probe, try await finished)
    }
  }

  @Test func aServiceThatIsStoppedWhileItEndsEndsInOrder() async throws {
    try await runService(gate: "--gate", after: SIGTERM, at: "release begin") { probe, run in
      #expect(run.ending == .exited(0), "\(run.errors)")
      #expect(probe.log.lines.contains("release end"))
      #expect(!probe.log.lines.contains { $0.hasPrefix("report ") })
    }
  }

  @Test func aServiceThatIsStoppedWhileItReloadsReloadsInOrder() async throws {
    try await runService(gate: "--reload-gate", after: SIGHUP, at: "reload begin") { probe in
      try await probe.log.line(startingWith: "reload end")
      try probe.signal(SIGTERM)
    } check: { _, run in
      #expect(run.ending == .exited(0))
      #expect(!run.errors.contains("overran"), "\(run.errors)")
    }
  }

  /// What is late without the stop is still late.
  @Test func aServiceThatIsStoppedAndThenLateIsEnded() async throws {
    try await runService(gate: "--gate", opens: false, after: SIGTERM, at: "release begin") { probe, run in
      #expect(run.ending == .exited(70))
      #expect(probe.log.lines.contains { $0.hasPrefix("report watchdog:socket") })
    }
  }

  /// The host's own deadline has the same time.
  @Test func aServiceWhoseMainActorIsBusyIsNotEndedForAStop() async throws {
    let call = "delegate applicationWillTerminate"
    try await runService(gate: "--block-gate", after: SIGTERM, at: call) { _, run in
      #expect(run.ending == .exited(0), "\(run.errors)")
    }
  }

  @Test func aTerminalProgramThatIsStoppedWhileItEndsEndsInOrder() async throws {
    try await ProbeSession.run { probe in
      let options = Self.budget + stopping(at: "release begin")
      try await PseudoTerminal.run(probe.arguments("--gate", probe.gate.path) + options) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        terminal.send("q")
        try await probe.log.line(startingWith: "release begin")
        try await outlast(probe) { try probe.gate.open() }
        #expect(try await terminal.child.ending() == .exited(0))
        #expect(probe.log.lines.contains("release end"))
        #expect(!probe.log.lines.contains { $0.hasPrefix("report ") })
      }
    }
  }

  /// A connection is not taken for dead because the program did not run.
  @Test func aHealthCheckAcrossAStopKeepsItsConnection() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      async let finished = runProgram(probe.arguments("--check-gate", probe.gate.path) + stopping(at: "check begin"))
      try await probe.log.line(startingWith: "check begin")
      try await outlast(probe) { try probe.gate.open() }
      try await probe.log.line(startingWith: "check ")
      #expect(probe.log.lines.contains("check end"))
      // The same connection is checked again.
      try await probe.log.line(startingWith: "check begin")
      #expect(!probe.log.lines.contains("connection released"))
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
    }
  }

  /// A shell's stop: the application is suspended meanwhile, and a check is under way.
  @Test func aStopByTheShellDoesNotCountEither() async throws {
    try await Shell.bash.runProbe { probe, terminal in
      let options = "--check-gate \(probe.gate.path) --signal-at '\(SIGTSTP):check begin'"
      // Its screen is not waited for: the program may leave it before the test has looked.
      terminal.line(probe.command(options))
      try await terminal.jobHasStopped(in: .bash)
      try await probe.log.line(startingWith: "check begin")
      _ = try await runProgram(["sleep", "9"])
      try probe.gate.open()
      try await probe.comeBack(visit: 2, on: terminal)
      try await probe.log.line(startingWith: "check ")
      #expect(probe.log.lines.contains("check end"))
      try await probe.log.line(startingWith: "check begin")
      #expect(!probe.log.lines.contains("connection released"))
      try await probe.quit(on: terminal)
    }
  }
}
