import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// The terminal goes away: its window is closed, or the line drops.
///
/// Whether the signal or the hang-up itself is noticed first is the kernel's affair; either may be named as the cause.
@Suite(.serialized, .timeLimit(.hang)) struct HangUpTests {
  /// Where the program is when that happens.
  enum Place: String, CaseIterable { case foreground, stopped, background, launchedInBackground }

  private func cause(_ probe: ProbeSession) throws -> String {
    let last = try #require(probe.records.last)
    let cause = String(try #require(last.split(separator: " ").last))
    #expect(["SIGHUP", "hang-up"].contains(cause))
    return cause
  }

  @Test func aProgramWithoutAShellEndsInFullOrder() async throws {
    try await ProbeSession.run { probe in
      try await PseudoTerminal.run(probe.arguments()) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        await terminal.hangUp()
        #expect(try await terminal.child.ending() == .exited(0))
      }
      let cause = try cause(probe)
      probe.expectRecords(.launch(), .leave(cause), .terminate(cause))
    }
  }

  @Test(arguments: Shell.allCases, Place.allCases)
  func aProgramUnderAShellEndsInFullOrder(shell: Shell, place: Place) async throws {
    try shell.isInstalledOrCancel()
    try await ProbeSession.run { probe in
      try await shell.run { terminal in
        if place == .launchedInBackground {
          terminal.line(probe.command() + " &")
          try await probe.log.line(startingWith: "notification UIApplicationDidFinishLaunchingNotification")
        } else {
          try await probe.launch(on: terminal)
        }
        if place == .stopped || place == .background {
          try await terminal.stopJob(in: shell)
        }
        if place == .background {
          terminal.line("bg")
          try await probe.log.line(startingWith: "state background background bg")
        }
        await terminal.hangUp()
        try await ProcessTable.ending(of: try probe.pid())
      }
      let cause = try cause(probe)
      switch place {
      case .foreground: probe.expectRecords(.launch(), .leave(cause), .terminate(cause))
      case .stopped:
        probe.expectRecords(.launch(), .leave("Ctrl-Z"), .suspend("Ctrl-Z"), .wake(cause), .terminate(cause))
      case .background:
        probe.expectRecords(.launch(), .leave("Ctrl-Z"), .suspend("Ctrl-Z"), .wake("bg"), .terminate(cause))
      case .launchedInBackground: probe.expectRecords(.launchInBackground("&"), .terminate(cause))
      }
    }
  }

  @Test func aHangUpDuringTheTearDownLetsItFinish() async throws {
    try await ProbeSession.run { probe in
      try await PseudoTerminal.run(probe.arguments("--budget", ProbeSession.longBudget, "--gate", probe.gate.path)) {
        terminal in
        try await probe.isActive(visit: 1, on: terminal)
        terminal.child.signal(SIGTERM)
        try await probe.log.line(startingWith: "release begin")
        await terminal.hangUp()
        try probe.gate.open()
        #expect(try await terminal.child.ending() == .exited(0))
      }
      probe.expectRecords(.launch(), .leave("SIGTERM"), .terminate("SIGTERM"))
    }
  }

  // MARK: A service at a terminal

  /// It would keep its port.
  ///
  /// Some shells send their background jobs nothing, and then only the terminal itself tells.
  @Test(arguments: Shell.allCases, ["", "&"])
  func aServiceEndsWithItsTerminal(shell: Shell, suffix: String) async throws {
    try shell.isInstalledOrCancel()
    try await ProbeSession.run("ServiceProbe") { probe in
      try await shell.run { terminal in
        terminal.line("\(probe.command()) \(suffix)")
        try await probe.log.line(startingWith: "acquire end")
        // While the terminal is there, a SIGHUP is a manager's word.
        try probe.signal(SIGHUP)
        try await probe.log.line(startingWith: "reload end")
        await terminal.hangUp()
        try await ProcessTable.ending(of: try probe.pid())
      }
      probe.expectRecords(.launchInBackground("launch"), .terminate("hang-up"))
    }
  }

  @Test func aServiceThatLeadsItsTerminalsSessionEndsWithIt() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      try await PseudoTerminal.run(probe.arguments()) { terminal in
        try await probe.log.line(startingWith: "acquire end")
        await terminal.hangUp()
        #expect(try await terminal.child.ending() == .exited(0))
      }
      probe.expectRecords(.launchInBackground("launch"), .terminate("hang-up"))
    }
  }

  /// The kernel takes the terminal from its session, and `poll` says nothing; the other side waits for the last descriptor.
  @Test func `A service ends with the shell that leads its terminal's session`() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      let script = "\(probe.command()) </dev/null >/dev/null 2>&1 & read line"
      try await PseudoTerminal.run(["sh", "-c", script]) { terminal in
        try await probe.log.line(startingWith: "acquire end")
        terminal.line("")
        #expect(try await terminal.child.ending() == .exited(0))
        try await terminal.outputHasEnded()
        try await ProcessTable.ending(of: try probe.pid())
      }
      probe.expectRecords(.launchInBackground("launch"), .terminate("hang-up"))
    }
  }

  @Test func nohupKeepsAService() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      try await Shell.bash.run(directory: probe.directory.path) { terminal in
        terminal.line("nohup \(probe.command()) &")
        try await probe.log.line(startingWith: "acquire end")
        let pid = try probe.pid()
        let parent = try #require(ProcessTable.entry(pid)).parent
        await terminal.hangUp()
        try await ProcessTable.ending(of: parent)
        kill(pid, SIGTERM)
        try await ProcessTable.ending(of: pid)
      }
      probe.expectRecords(.launchInBackground("launch"), .terminate("SIGTERM"))
    }
  }

  // MARK: nohup

  /// Under `nohup` a program outlives its terminal: it goes to the background.
  @Test(arguments: [Shell.bash, .dash]) func nohupKeepsItInTheBackground(shell: Shell) async throws {
    try await ProbeSession.run { probe in
      try await shell.run(directory: probe.directory.path) { terminal in
        terminal.line("nohup \(probe.command())")
        try await probe.isActive(visit: 1, on: terminal)
        await terminal.hangUp()
        try await probe.log.line(startingWith: "notification UIApplicationDidEnterBackgroundNotification")
        try probe.signal(SIGTERM)
        try await ProcessTable.ending(of: try probe.pid())
      }
      probe.expectRecords(.launch(), .leave("hang-up"), .terminate("SIGTERM"))
    }
  }
}
