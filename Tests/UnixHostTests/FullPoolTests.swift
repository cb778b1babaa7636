import AppLifecycle
import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// What the end of a program needs when the Swift thread pool runs no task, or the system creates no thread.
///
/// `REPETITIONS` repeats each case.
@Suite(.serialized, .timeLimit(.hang)) struct FullPoolTests {
  /// How the eight tasks keep the pool busy.
  enum Load: String, CaseIterable, Sendable { case compute, block }
  enum Priority: String, CaseIterable, Sendable { case none, high, medium, low, background }

  private static let budget = 1200

  /// Runs a service under a pool, orders its end when it has launched, and returns its end.
  private func endService(_ pool: String) async throws -> (program: FinishedProgram, log: [String]) {
    try await ProbeSession.run("ServiceProbe") { probe in
      async let finished = runProgram(
        probe.arguments("--budget", "\(Self.budget)"), environment: ["POOL": pool], within: .seconds(120))
      try await probe.log.line(startingWith: "pool prepared")
      try probe.signal(SIGTERM)
      return try await (finished, probe.log.lines)
    }
  }

  @Test(arguments: Load.allCases, Priority.allCases)
  func aServiceWithoutAsynchronousCodeEndsInOrder(load: Load, priority: Priority) async throws {
    for _ in 0..<repetitions(default: 1) {
      let (program, log) = try await endService("\(load):\(priority)")
      #expect(program.ending == .exited(0), "\(program.errors) \(log)")
      #expect(log.last == "state notRunning notRunning SIGTERM", "\(log)")
    }
  }

  /// A task of low priority takes no thread from the saver; any other may.
  ///
  /// If the computer gives the application no processor during the host's grace period, the host reports the overrun
  /// without its reason. The case is tried once more then.
  @Test(arguments: Load.allCases, Priority.allCases)
  func whatFindsNoThreadIsNamedAsThat(load: Load, priority: Priority) async throws {
    for _ in 0..<repetitions(default: 1) {
      var (program, log) = try await endService("saver \(load):\(priority)")
      if program.errors.contains("the main actor did not answer") {
        (program, log) = try await endService("saver \(load):\(priority)")
      }
      if log.contains("saved") {
        #expect(program.ending == .exited(0), "\(program.errors) \(log)")
      } else {
        #expect(program.ending == .exited(70), "\(log)")
        #expect(
          program.errors.contains("saver") && program.errors.contains("all threads of the Swift thread pool are busy"),
          "\(program.errors)")
        #expect(![.low, .background].contains(priority))
      }
    }
  }

  @Test(arguments: Load.allCases, Priority.allCases)
  func aTerminalProgramStopsAndEnds(load: Load, priority: Priority) async throws {
    for _ in 0..<repetitions(default: 1) {
      try await ProbeSession.run { probe in
        try await Shell.bash.run { terminal in
          terminal.line("POOL='saver \(load):\(priority)' \(probe.command("--budget", "\(Self.budget)"))")
          try await probe.log.line(startingWith: "pool prepared")
          try await probe.isActive(visit: 1, on: terminal)
          try await terminal.stopJob(in: .bash)
          #expect(terminal.screen.isLeftInOrder(at: .bash))
          try await probe.comeBack(visit: 2, on: terminal)
          try await probe.quit(on: terminal)
          try await terminal.prompt()
        }
        if !probe.log.lines.contains("saved") {
          #expect(probe.log.lines.contains { $0.hasPrefix("report watchdog:saver") }, "\(probe.log.lines)")
        }
      }
    }
  }

  @Test func aMainActorThatIsBlockedAfterTheEndDoesNotKeepTheProcess() async throws {
    let (program, log) = try await endService("block-main")
    #expect(program.ending == .exited(70), "\(log)")
    #expect(program.errors.contains("the main actor did not answer"), "\(program.errors)")
  }

  @Test func withoutThreadsAServiceEndsInOrder() async throws {
    let (program, log) = try await endService("no-threads")
    #expect(program.ending == .exited(0), "\(program.errors) \(log)")
  }

  @Test(arguments: ["q", "\u{3}", "\u{1A}"]) func withoutThreadsATerminalProgramObeys(key: String) async throws {
    try await Shell.bash.runProbe { probe, terminal in
      terminal.line("POOL=no-threads \(probe.command("--budget", "\(Self.budget)"))")
      try await probe.log.line(startingWith: "pool prepared")
      try await probe.isActive(visit: 1, on: terminal)
      terminal.send(key)
      if key == "\u{1A}" {
        try await terminal.jobHasStopped(in: .bash)
        try await probe.comeBack(visit: 2, on: terminal)
        terminal.send("q")
      }
      try await probe.isNotRunning()
      try await terminal.prompt()
    }
  }
}
