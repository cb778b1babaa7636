import PseudoTerminal
import TestTraits
import Testing

/// The keys that a real host posts, for what a real terminal sends.
@Suite(.serialized, .timeLimit(.hang)) struct TerminalKeyTests {
  /// Sends text, waits for what ends it, and returns the keys of all.
  private func keys(_ text: String, until last: String) async throws -> [String] {
    try await Shell.dash.runProbe { probe, terminal in
      try await probe.launch("--keys", on: terminal)
      terminal.send(text)
      try await probe.log.line("the last key") { $0.hasPrefix("keys ") && $0.hasSuffix(last) }
      let keys = probe.log.lines.filter { $0.hasPrefix("keys ") }.flatMap { $0.dropFirst(5).split(separator: " ") }
      try await probe.quit(on: terminal)
      return keys.map(String.init)
    }
  }

  @Test func `Several keys that come at once are several keys`() async throws {
    #expect(
      try await keys("aé\u{1B}[A\u{1B}[1;5C\u{1B}OP\u{1B}[3~\u{1B}[I\u{1B}zb\u{15}k", until: "k")
        == ["a", "é", "Up", "Ctrl-Right", "F1", "Delete", "Alt-z", "b", "Ctrl-U", "k"])
  }

  @Test func `A paste is one key, and Escape is one after a moment`() async throws {
    #expect(
      try await keys("\u{1B}[200~q\r\u{1B}[I\u{1B}[201~\u{1B}", until: "Escape") == ["Paste(5", "bytes)", "Escape"])
  }

  @Test func `A megabyte is pasted whole`() async throws {
    let text = String(repeating: "x", count: 1_000_000)
    #expect(try await keys("\u{1B}[200~\(text)\u{1B}[201~k", until: "k") == ["Paste(1000000", "bytes)", "k"])
  }
}
