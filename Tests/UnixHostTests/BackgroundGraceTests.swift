import AppLifecycle
import Glibc
import PseudoTerminal
import Scheduling
import TestTraits
import Testing

/// Work that a component starts on leaving the foreground and announces to nothing, in real programs.
@Suite(.serialized, .timeLimit(.hang)) struct BackgroundGraceTests {
  /// Runs the probe in a shell until it is active.
  private func inTerminal(
    _ options: String..., body: (ProbeSession, PseudoTerminal) async throws -> Void
  ) async throws {
    try await ProbeSession.run("ObserverProbe") { probe in
      try await Shell.bash.run { terminal in
        terminal.line(probe.command(options.joined(separator: " "), "--gate", probe.gate.path))
        try await probe.log.line(startingWith: "notification UIApplicationDidBecomeActiveNotification")
        try await body(probe, terminal)
      }
    }
  }

  private func order(_ first: String, _ second: String, in probe: ProbeSession) throws {
    let lines = probe.log.lines
    let (earlier, later) = (lines.firstIndex { $0.hasPrefix(first) }, lines.firstIndex { $0.hasPrefix(second) })
    #expect(try #require(earlier, "\(lines)") < #require(later, "\(lines)"))
  }

  @Test func `without grace it is lost at Ctrl-Z and kill -9`() async throws {
    try await inTerminal("--grace 0") { probe, terminal in
      try await terminal.stopJob(in: .bash)
      // What it waits for comes while the process is stopped.
      try probe.gate.open()
      try probe.signal(SIGKILL)
      terminal.line("fg")
      try await terminal.wait(for: "Killed")
      #expect(probe.log.lines.contains("flush begin") && !probe.log.lines.contains("flush end"))
    }
  }

  @Test func `with the grace it arrives before the stop`() async throws {
    try await inTerminal("--flush 200") { probe, terminal in
      try probe.gate.open()
      try await terminal.stopJob(in: .bash)
      try probe.signal(SIGKILL)
      try order("flush end", "state suspended", in: probe)
      #expect(!terminal.text.contains("overran"))
    }
  }

  @Test func `with the grace it arrives before the end`() async throws {
    try await inTerminal("--flush 200") { probe, terminal in
      try probe.gate.open()
      try probe.signal(SIGTERM)
      try await probe.isNotRunning()
      try order("flush end", "delegate applicationWillTerminate", in: probe)
      try await terminal.prompt()
      #expect(try await terminal.status(in: .bash) == 0)
    }
  }

  @Test func `a return during the grace is a return from the background`() async throws {
    try await inTerminal("--grace 600000", "--budget 600000") { probe, terminal in
      terminal.control("Z")
      try await probe.log.line(startingWith: "flush begin")
      try probe.signal(SIGCONT)
      try await probe.log.line(startingWith: "notification UIApplicationWillEnterForegroundNotification")
      try await probe.log.line(startingWith: "notification UIApplicationDidBecomeActiveNotification")
      try probe.gate.open()
      try await probe.log.line(startingWith: "flush end")
      #expect(!terminal.text.contains(Shell.bash.stopMark))
      probe.expectRecords(.launch(), .leave("Ctrl-Z"), .comeBack("SIGCONT"))
    }
  }

  @Test func `an order to end during the grace ends it`() async throws {
    try await inTerminal("--grace 600000", "--budget 600000") { probe, terminal in
      terminal.control("Z")
      try await probe.log.line(startingWith: "flush begin")
      try probe.gate.open()
      try probe.signal(SIGQUIT)
      try await terminal.prompt()
      #expect(!probe.log.lines.contains { $0.hasPrefix("state suspended") })
    }
  }

  @Test func `a grace that ends early costs nothing without work`() async throws {
    try await inTerminal("--grace 600000", "--budget 600000", "--ends-early") { probe, terminal in
      try await terminal.stopJob(in: .bash)
      probe.expectRecords(.launch(), .leave("Ctrl-Z"), .suspend("Ctrl-Z"))
    }
  }

  /// The milliseconds from Ctrl-Z to the shell's prompt.
  private func stop(_ program: String, _ options: String) async throws -> Double {
    try await ProbeSession.run(program) { probe in
      try await Shell.bash.run { terminal in
        terminal.line(probe.command(options))
        try await probe.log.line(startingWith: "notification UIApplicationDidBecomeActiveNotification")
        let start = ContinuousClock.now
        try await terminal.stopJob(in: .bash)
        return start.duration(to: .now) / .milliseconds(1)
      }
    }
  }

  private static var rounds: Int { Environment.variable("GRACE_ROUNDS").flatMap { Int($0) } ?? 0 }

  /// A measurement of this machine, and so not a part of every run.
  @Test(.enabled(if: rounds > 0, "GRACE_ROUNDS is not set: the number of rounds to measure"))
  func `without work under way a grace costs at most 50 ms`() async throws {
    let subjects = [
      ("TerminalProbe", ""), ("ObserverProbe", "--grace 0"), ("ObserverProbe", "--grace 5000 --ends-early"),
    ]
    var times: [[Double]] = subjects.map { _ in [] }
    for _ in 0..<Self.rounds {
      for (place, subject) in subjects.enumerated() { times[place].append(try await stop(subject.0, subject.1)) }
    }
    let medians = times.map { $0.sorted()[$0.count / 2] }
    for (subject, median) in zip(subjects, medians) { print("Ctrl-Z to the prompt, \(subject): \(median) ms") }
    #expect(medians[1] <= medians[0] + 50 && medians[2] <= medians[0] + 50)
  }

  // MARK: Services

  private func service(_ options: String...) async throws -> [String] {
    try await ProbeSession.run("ObserverProbe") { probe in
      try probe.gate.open()
      async let finished = runProgram(
        probe.arguments("--flush", "200", "--gate", probe.gate.path) + options,
        environment: ["APP_LIFECYCLE_HOST": "service"], inOwnSession: true, within: .seconds(600))
      try await probe.log.line(startingWith: "notification UIApplicationDidFinishLaunchingNotification")
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
      return probe.log.lines.filter { ["observed", "flush"].contains($0.split(separator: " ").first) }
    }
  }

  @Test func `a service tells observers of the background before its end, if it is asked to`() async throws {
    #expect(
      try await service("--services") == [
        "observed DidEnterBackground", "flush begin", "flush end", "observed WillTerminate",
      ])
    #expect(try await service() == ["observed WillTerminate"])
  }
}
