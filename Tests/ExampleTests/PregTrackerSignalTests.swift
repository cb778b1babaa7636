import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// Every signal that ends a program by default leaves the terminal in order, and ends the program all the same.
@Suite(.serialized, .timeLimit(.hang)) struct PregTrackerSignalTests {
  /// The first real-time signal that programs may use and the last one; the macros call functions.
  private static let realTime = (first: Int32(34), last: Int32(64))

  /// Without SIGXFSZ, which the program ignores: a file that has no room is an error of a write.
  static let signals =
    [SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGPOLL, SIGPWR, SIGSTKFLT]
    + [realTime.first, realTime.first + 1, realTime.first + 15, realTime.last - 1, realTime.last]

  /// Dash changes no modes of its own, so it shows exactly what the program left.
  private func underDash(
    _ command: (TrackerSession) -> String, endedBy signal: Int32,
    body: (TrackerSession, PseudoTerminal) async throws -> Void
  ) async throws {
    try await TrackerSession.run { tracker in
      try await Shell.dash.run(rows: 30, columns: 100) { terminal in
        // No core file of an end that is meant.
        terminal.line("ulimit -c 0")
        try await terminal.prompt()
        let before = terminal.modes
        terminal.line(command(tracker))
        try await tracker.isActive(on: terminal)
        #expect(terminal.modes != before)
        try await body(tracker, terminal)
        try await terminal.prompt(within: .seconds(60))
        // Required: a shell whose terminal is broken takes no command.
        try #require(terminal.modes == before)
        try #require(terminal.screen.isLeft)
        #expect(try await terminal.status(in: .dash) == 128 + signal)
      }
    }
  }

  @Test(arguments: signals) func `A signal from outside`(signal: Int32) async throws {
    try await underDash(\.command, endedBy: signal) { tracker, terminal in
      kill(try tracker.pid(on: terminal), signal)
    }
  }

  @Test func `timeout with SIGALRM`() async throws {
    try requireProgram("timeout")
    try await underDash({ "timeout --preserve-status -s ALRM 1000 \($0.command)" }, endedBy: SIGALRM) { _, terminal in
      let wrapper = try #require(ProcessTable.members(ofSession: terminal.child.pid, running: "timeout").first)
      kill(wrapper.pid, SIGALRM)
    }
  }

  /// The soft limit: at the hard one the kernel sends SIGKILL.
  @Test func `The limit of processor time`() async throws {
    try await underDash({ "sh -c 'ulimit -S -t 1; exec \"$@\"' - \($0.command)" }, endedBy: SIGXCPU) {
      tracker, terminal in
      let pid = try tracker.pid(on: terminal)
      // Drawing is work; enough of it is a second.
      var columns = 100
      while ProcessTable.entry(pid).map({ !$0.isZombie }) == true {
        columns = columns == 100 ? 99 : 100
        terminal.resize(rows: 30, columns: columns)
        await Task.yield()
      }
      terminal.resize(rows: 30, columns: 100)
    }
  }
}
