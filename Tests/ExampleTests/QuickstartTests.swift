import PseudoTerminal
import TestTraits
import Testing

/// The smallest program, as a user has it: in a terminal, under a shell with job control.
@Suite(.timeLimit(.hang)) struct QuickstartTests {
  @Test func `It greets, greets again after Ctrl-Z and fg, and ends with status 0`() async throws {
    try await Shell.bash.run { terminal in
      terminal.line(builtProduct("Quickstart"))
      try await terminal.waitForScreen("the greeting alone") {
        $0.lines.filter { !$0.isEmpty } == ["Welcome. Press Ctrl-Z and come back with fg; q quits."]
      }
      terminal.control("Z")
      try await terminal.prompt()
      #expect(!terminal.screen.showsAlternate && terminal.screen.showsCursor)

      terminal.line("fg")
      try await terminal.waitForScreen("the second greeting alone") {
        let lines = $0.lines.filter { !$0.isEmpty }
        return lines.count == 1 && lines[0].wholeMatch(of: /Welcome back after \d+ s; q quits\./) != nil
      }
      terminal.send("q")
      try await terminal.prompt()
      #expect(try await terminal.status(in: .bash) == 0)
    }
  }
}
