import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// The harness can leave a terminal unread, and a program that prints to it then waits.
@Suite(.timeLimit(.hang)) struct TerminalStallTests {
  @Test func whatIsPrintedDuringAPauseArrivesAfterIt() async throws {
    try await PseudoTerminal.run(["sh", "-c", "echo first; read line; echo second; read line; echo third"]) {
      terminal in
      try await terminal.wait(for: "first")
      try await terminal.pauseReading()
      terminal.line("")
      terminal.line("")
      #expect(try await terminal.child.nextEvent() == .exited(0))
      #expect(!terminal.text.contains("second"))
      terminal.resumeReading()
      try await terminal.outputHasEnded()
      #expect(terminal.text.contains("second") && terminal.text.contains("third"))
    }
  }

  @Test func aFullTerminalHoldsAProgramUpUntilItIsRead() async throws {
    try await PseudoTerminal.run(["sh", "-c", "echo first; read line; echo second"]) { terminal in
      try await terminal.wait(for: "first")
      try await terminal.pauseReading()
      #expect(try terminal.fill() > 1_000)
      #expect(try terminal.fill() == 0)
      terminal.line("")
      // It cannot end before it has printed, and it cannot print before the terminal is read.
      terminal.resumeReading()
      #expect(try await terminal.child.nextEvent() == .exited(0))
      try await terminal.outputHasEnded()
      #expect(terminal.text.contains("second"))
    }
  }

  @Test func aPauseThatIsTimedEndsByItself() async throws {
    try await PseudoTerminal.run(["sh", "-c", "echo first; read line; echo second; read line"]) { terminal in
      try await terminal.wait(for: "first")
      try await terminal.pauseReading()
      terminal.line("")
      terminal.resumeReading(after: .milliseconds(10))
      try await terminal.wait(for: "second")
    }
  }

  @Test func aTerminalThatIsNotReadCanBeHungUp() async throws {
    try await PseudoTerminal.run(["sh", "-c", "echo first; read line; exit 3"]) { terminal in
      try await terminal.wait(for: "first")
      try await terminal.pauseReading()
      try terminal.fill()
      await terminal.hangUp()
      #expect(terminal.modes == nil)
      #expect(try await terminal.child.nextEvent() == .killed(SIGHUP))
    }
  }
}
