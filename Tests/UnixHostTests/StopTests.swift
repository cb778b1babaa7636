import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// Stops by SIGSTOP in the middle of what has a limit, done to a real program: the time of a stop does not count.
@Suite(.serialized, .timeLimit(.hang)) struct StopTests {
  /// Budgets of five seconds, as the interval of the checks; the stops are longer.
  private static let budget = ["--budget", "5000"]

  /// Stops the probe for longer than any limit of it, and continues it.
  private func stop(_ probe: ProbeSession) async throws {
    try probe.signal(SIGSTOP)
    await ProcessTable.stopping(of: try probe.pid())
    _ = try await runProgram(["sleep", "9"])
    try probe.signal(SIGCONT)
  }

  /// Runs a service that waits at its gate, once a signal has brought it there: stops it, and runs `body` after it continues.
  private func runService(
    gate: String, after signal: Int32, at line: String, _ body: (ProbeSession) async throws -> Void,
    check: (ProbeSession, FinishedProgram) -> Void
  ) async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      async let finished = runProgram(probe.arguments(gate, probe.gate.path) + Self.budget)
      try await probe.log.line(startingWith: "acquire end")
      try probe.signal(signal)
      try await probe.log.line(startingWith: line)
      try await stop(probe)
      try await body(probe)
      check(probe, try await finished)
    }
  }

  @Test func aServiceThatIsStoppedWhileItEndsEndsInOrder() async throws {
    try await runService(gate: "--gate", after: SIGTERM, at: "release begin") {
      try $0.gate.open()
    } check: { probe, run in
      #expect(run.ending == .exited(0), "\(run.errors)")
      #expect(probe.log.lines.contains("release end"))
      #expect(!probe.log.lines.contains { $0.hasPrefix("report ") })
    }
  }

  @Test func aServiceThatIsStoppedWhileItReloadsReloadsInOrder() async throws {
    try await runService(gate: "--reload-gate", after: SIGHUP, at: "reload begin") { probe in
      try probe.gate.open()
      try await probe.log.line(startingWith: "reload end")
      try probe.signal(SIGTERM)
    } check: { _, run in
      #expect(run.ending == .exited(0))
      #expect(!run.errors.contains("overran"), "\(run.errors)")
    }
  }

  /// What is late without the stop is still late.
  @Test func aServiceThatIsStoppedAndThenLateIsEnded() async throws {
    try await runService(gate: "--gate", after: SIGTERM, at: "release begin") { _ in
    } check: { probe, run in
      #expect(run.ending == .exited(70))
      #expect(probe.log.lines.contains { $0.hasPrefix("report watchdog:socket") })
    }
  }

  /// The host's own deadline has the same time.
  @Test func aServiceWhoseMainActorIsBusyIsNotEndedForAStop() async throws {
    let call = "delegate applicationWillTerminate"
    try await runService(gate: "--block-gate", after: SIGTERM, at: call) {
      try $0.gate.open()
    } check: { _, run in
      #expect(run.ending == .exited(0), "\(run.errors)")
    }
  }

  @Test func aTerminalProgramThatIsStoppedWhileItEndsEndsInOrder() async throws {
    try await ProbeSession.run { probe in
      try await PseudoTerminal.run(probe.arguments("--gate", probe.gate.path) + Self.budget) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        terminal.send("q")
        try await probe.log.line(startingWith: "release begin")
        try await stop(probe)
        try probe.gate.open()
        #expect(try await terminal.child.ending() == .exited(0))
        #expect(probe.log.lines.contains("release end"))
        #expect(!probe.log.lines.contains { $0.hasPrefix("report ") })
      }
    }
  }

  /// A connection is not taken for dead because the program did not run.
  @Test func aHealthCheckAcrossAStopKeepsItsConnection() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      async let finished = runProgram(probe.arguments("--check-gate", probe.gate.path))
      try await probe.log.line(startingWith: "check begin")
      try await stop(probe)
      try probe.gate.open()
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
      try await probe.launch("--check-gate", probe.gate.path, on: terminal)
      try await probe.log.line(startingWith: "check begin")
      try await terminal.stopJob(in: .bash)
      _ = try await runProgram(["sleep", "9"])
      try await probe.comeBack(visit: 2, on: terminal)
      try probe.gate.open()
      try await probe.log.line(startingWith: "check ")
      #expect(probe.log.lines.contains("check end"))
      try await probe.log.line(startingWith: "check begin")
      #expect(!probe.log.lines.contains("connection released"))
      try await probe.quit(on: terminal)
    }
  }
}
