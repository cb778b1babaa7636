import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// Background tasks at a stop, and the mode of a background job, in real shells.
@Suite(.serialized, .timeLimit(.hang)) struct BackgroundTaskTests {
  /// Half of it has to pass before a task expires; the other half is for a machine with much else to do.
  private static let budget = "--budget 2000"

  @Test(arguments: Shell.allCases) func atAStopTasksExpireBeforeIt(shell: Shell) async throws {
    try shell.isInstalledOrCancel()
    try await ProbeSession.run { probe in
      try await shell.run { terminal in
        try await probe.launch("--task save", Self.budget, on: terminal)
        try await terminal.stopJob(in: shell)
        #expect(probe.log.lines.contains("expire save"))
        #expect(!terminal.text.contains("overran"))
        try await probe.comeBack(visit: 2, on: terminal)
      }
      let lines = probe.log.lines
      let expired = try #require(lines.firstIndex(of: "expire save"))
      let suspended = try #require(lines.firstIndex { $0.hasPrefix("state suspended") })
      #expect(expired < suspended)
      #expect(lines.contains("task expire:save background Ctrl-Z"))
    }
  }

  @Test(arguments: [Shell.bash, .dash]) func aTaskThatDoesNotEndIsNamed(shell: Shell) async throws {
    try await ProbeSession.run { probe in
      try await shell.run { terminal in
        try await probe.launch("--open-task upload", Self.budget, on: terminal)
        terminal.control("Z")
        try await terminal.wait(for: "applicationDidEnterBackground overran its budget of 2.0 seconds: upload")
        try await terminal.jobHasStopped(in: shell)
        try await probe.comeBack(visit: 2, on: terminal)
      }
      #expect(probe.log.lines.contains("report backgroundTimeExpired:upload background Ctrl-Z"))
    }
  }

  @Test(arguments: [Shell.bash, .dash]) func aReturnLeavesTheTaskItsTime(shell: Shell) async throws {
    try await shell.runProbe { probe, terminal in
      // So much time that the task cannot expire during the test.
      try await probe.launch("--task save", "--budget 600000", on: terminal)
      terminal.control("Z")
      try await probe.log.line(startingWith: "notification UIApplicationDidEnterBackgroundNotification")
      try probe.signal(SIGCONT)
      try await probe.isActive(visit: 2, on: terminal)
      #expect(!terminal.text.contains(shell.stopMark))
      #expect(!probe.log.lines.contains("expire save"))
      // Before the shell goes, which the program would notice.
      probe.expectRecords(.launch(), .leave("Ctrl-Z"), .comeBack("SIGCONT"))
    }
  }

  /// Work for which the program asked for time is not cut off: it ends, or expires, before the application is told of the end.
  @Test func atATerminationTasksExpireBeforeIt() async throws {
    try await ProbeSession.run { probe in
      try await Shell.bash.run { terminal in
        try await probe.launch("--task save", Self.budget, on: terminal)
        try probe.signal(SIGTERM)
        try await probe.isNotRunning()
        #expect(!terminal.text.contains("overran"))
      }
      let lines = probe.log.lines
      let expired = try #require(lines.firstIndex(of: "task expire:save background SIGTERM"))
      let ends = try #require(lines.firstIndex { $0.hasPrefix("delegate applicationWillTerminate") })
      #expect(expired < ends)
    }
  }

  @Test func aTaskThatDoesNotEndAtATerminationIsNamed() async throws {
    try await ProbeSession.run { probe in
      try await Shell.bash.run { terminal in
        try await probe.launch("--open-task upload", Self.budget, on: terminal)
        try probe.signal(SIGTERM)
        try await terminal.wait(for: "applicationDidEnterBackground overran its budget of 2.0 seconds: upload")
        try await probe.isNotRunning()
        try await terminal.prompt()
        #expect(try await terminal.status(in: .bash) == 70)
      }
      #expect(probe.log.lines.contains("report backgroundTimeExpired:upload background SIGTERM"))
    }
  }

  @Test(arguments: Shell.allCases) func aJobInTheBackgroundHasAllTheTime(shell: Shell) async throws {
    try await shell.runProbe { probe, terminal in
      try await probe.launch(on: terminal)
      try await terminal.stopJob(in: shell)
      #expect(probe.times == ["limited"])
      terminal.line("bg")
      try await probe.log.line(startingWith: "state background background bg")
      try await probe.log.line(startingWith: "time unlimited")
      try await probe.comeBack(visit: 2, on: terminal)
      try await terminal.stopJob(in: shell)
      // The mode ended with the return. Looked at while the shell lives: its end hangs up the stopped job, which wakes for that.
      #expect(probe.times == ["limited", "unlimited", "limited"])
    }
  }

  @Test(arguments: Shell.allCases) func aJobThatIsStartedInTheBackgroundHasAllTheTime(shell: Shell) async throws {
    try await shell.runProbe { probe, terminal in
      terminal.line(probe.command() + " &")
      try await probe.log.line(startingWith: "notification UIApplicationDidFinishLaunchingNotification background &")
      #expect(probe.times == ["unlimited"])
    }
  }
}

extension ProbeSession {
  /// Whether time in the background was limited, at each commit of it.
  fileprivate var times: [String] {
    log.lines.filter { $0.hasPrefix("time ") }.map { String($0.dropFirst("time ".count)) }
  }
}
