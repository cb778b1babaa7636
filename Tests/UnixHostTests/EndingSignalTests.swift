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

  /// A wrapper sends its signal to the program and to the group: the second copy finds another thread, or the handler itself.
  ///
  /// Many times, as the moment is short.
  @Test(arguments: [[SIGUSR1, SIGUSR2], [SIGALRM, SIGALRM, SIGALRM], [SIGUSR1, SIGTERM], [34, 34, 35]])
  func aSecondSignalDoesNotCutTheFirstOneShort(signals: [Int32]) async throws {
    for _ in 0..<20 { try await send(signals) }
  }
}
