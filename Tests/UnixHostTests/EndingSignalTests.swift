import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// Signals that end a process by default and that nothing in the program expects.
@Suite(.serialized, .timeLimit(.hang)) struct EndingSignalTests {
  /// Runs the probe directly on a terminal, sends it signals, and expects the terminal in order and an end by one of them.
  private func send(_ signals: [Int32], within limit: Duration = .seconds(60)) async throws {
    try await ProbeSession.run { probe in
      // No core file of an end that is meant.
      let limited = ["sh", "-c", "ulimit -c 0; exec \"$@\"", "-"] + probe.arguments()
      try await PseudoTerminal.run(limited) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        #expect(terminal.modes != terminal.initialModes)
        for signal in signals { terminal.child.signal(signal) }
        let ending = try await terminal.child.ending(within: limit)
        #expect(signals.map(ChildEvent.killed).contains(ending))
        try await terminal.outputHasEnded()
        #expect(terminal.modes == terminal.initialModes)
        #expect(terminal.screen.isLeftInOrder())
      }
    }
  }

  @Test(arguments: [SIGUSR1, SIGALRM, SIGXCPU, SIGXFSZ, SIGPWR, 34, 64])
  func aSignalFromOutsideEndsItWithTheTerminalInOrder(signal: Int32) async throws { try await send([signal]) }

  /// The kernel performs no default action for the first process of a container: the signal would find a terminal that was
  /// given back, and a program that runs on.
  @Test(arguments: [SIGUSR1, SIGALRM, 34, SIGABRT, SIGSEGV, SIGSYS, SIGQUIT])
  func asProcessOneItEndsWithTheSignalsStatus(signal: Int32) async throws {
    guard getuid() == 0 else {
      print("skipped as process 1: only root may make a name space here")
      try Test.cancel("only root may make a name space here")
    }
    try await ProbeSession.run { probe in
      let limited =
        ["unshare", "--pid", "--fork", "--kill-child", "sh", "-c", "ulimit -c 0; exec \"$@\"", "-"]
        + probe.arguments()
      try await PseudoTerminal.run(limited) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        #expect(try probe.pid() == 1)
        let members = ProcessTable.members(ofSession: terminal.child.pid, running: "TerminalProbe")
        kill(try #require(members.first).pid, signal)
        #expect(try await terminal.child.ending(within: .seconds(60)) == .exited(128 + signal))
        try await terminal.outputHasEnded()
        #expect(terminal.screen.isLeftInOrder())
      }
    }
  }

  /// A signal of the kernel that does not come again when its handler returns.
  @Test(arguments: ["B", "S"], [false, true])
  func aSignalThatDoesNotComeAgainEndsItToo(key: String, hasBacktracer: Bool) async throws {
    let signal = key == "B" ? SIGBUS : SIGSYS
    try await ProbeSession.run { probe in
      let limited = ["sh", "-c", "ulimit -c 0; exec \"$@\"", "-"] + probe.arguments()
      let backtrace = "enable=\(hasBacktracer ? "yes" : "no"),interactive=no,color=no,threads=crashed"
      try await PseudoTerminal.run(limited, environment: ["SWIFT_BACKTRACE": backtrace]) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        terminal.send(key)
        #expect(try await terminal.child.ending(within: .seconds(120)) == .killed(signal))
        try await terminal.outputHasEnded()
        #expect(terminal.screen.isLeftInOrder())
      }
    }
  }

  /// The backtracer reports a signal of another process, and returns.
  @Test(arguments: [SIGABRT, SIGSEGV, SIGTRAP])
  func aSignalThatTheBacktracerReportsEndsItToo(signal: Int32) async throws {
    try await ProbeSession.run { probe in
      let limited = ["sh", "-c", "ulimit -c 0; exec \"$@\"", "-"] + probe.arguments()
      let backtrace = "enable=yes,interactive=no,color=no,output-to=stderr,threads=crashed"
      try await PseudoTerminal.run(limited, environment: ["SWIFT_BACKTRACE": backtrace]) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        terminal.child.signal(signal)
        #expect(try await terminal.child.ending(within: .seconds(120)) == .killed(signal))
        try await terminal.outputHasEnded()
        #expect(terminal.screen.isLeftInOrder())
        #expect(terminal.text.contains("Thread 0"), "\(terminal.text)")
      }
    }
  }

  /// A wrapper sends its signal to the program and to the group: the second copy finds another thread, or the handler itself.
  ///
  /// Many times, as the moment is short.
  @Test(arguments: [[SIGUSR1, SIGUSR2], [SIGALRM, SIGALRM, SIGALRM], [SIGUSR1, SIGTERM], [34, 34, 35]])
  func aSecondSignalDoesNotCutTheFirstOneShort(signals: [Int32]) async throws {
    for _ in 0..<20 { try await send(signals) }
  }

  /// Half the time that a program that a signal ends waits for its terminal: enough for the reader to begin again.
  private static let patience = Duration.milliseconds(500)

  /// The first signal's handler waits for a full terminal when the second one comes, on the same thread as a rule.
  ///
  /// - Returns: False if the machine was so slow that the program may have given the terminal up.
  private func sendWhileRestoring(_ first: Int32, _ second: Int32) async throws -> Bool {
    try await ProbeSession.run { probe in
      let limited = ["sh", "-c", "ulimit -c 0; exec \"$@\"", "-"] + probe.arguments()
      // A backtracer whose process a second signal ends stays behind, and keeps the terminal.
      return try await PseudoTerminal.run(limited, environment: ["SWIFT_BACKTRACE": "enable=no"]) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        try await terminal.pauseReading()
        try terminal.fill()
        let isInTime = await onThread {
          let start = ContinuousClock.now
          func isLate() -> Bool { ContinuousClock.now - start >= Self.patience }
          terminal.child.signal(first)
          // The modes are the first thing that the handler restores.
          while terminal.modes != terminal.initialModes, !isLate() { sched_yield() }
          terminal.child.signal(second)
          while ProcessTable.isPending(second, in: terminal.child.pid), !isLate() { sched_yield() }
          terminal.resumeReading()
          return !isLate()
        }
        guard isInTime else { return false }
        let ending = try await terminal.child.ending(within: .seconds(60))
        #expect(ending == .killed(first) || ending == .killed(second))
        try await terminal.outputHasEnded()
        #expect(terminal.modes == terminal.initialModes)
        #expect(terminal.screen.isLeftInOrder())
        return true
      }
    }
  }

  @Test(arguments: [SIGSEGV, SIGFPE, SIGQUIT, SIGUSR1], [SIGUSR2, 34])
  func aSecondSignalDuringTheRestoreOfTheFirstOneLetsItEnd(first: Int32, second: Int32) async throws {
    for _ in 0..<10 where try await sendWhileRestoring(first, second) { return }
    Issue.record("the machine was too slow, ten times")
  }
}
