import Testing

@testable import UnixHost

@Suite struct TerminalSequencesTests {
  @Test func aScreenIsLeftInTheOrderThatLeavesNothingBehind() {
    let sequences = TerminalSequences(TerminalHost.Configuration())
    #expect(sequences.leave == "\u{1B}[?2004l\u{1B}[?1004l\u{1B}[?25h\u{1B}[0m\u{1B}[?1049l")
    #expect(sequences.enter == "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?1004h\u{1B}[?2004h\u{1B}[2J\u{1B}[H")
  }

  @Test func whatWasNotBegunIsNotEnded() {
    var configuration = TerminalHost.Configuration()
    configuration.usesAlternateScreen = false
    #expect(TerminalSequences(configuration).leave == "\u{1B}[?2004l\u{1B}[?1004l")
    configuration.reportsFocus = false
    #expect(TerminalSequences(configuration).leave == "\u{1B}[?2004l")
    configuration.bracketsPaste = false
    let nothing = TerminalSequences(configuration)
    #expect(nothing.enter.isEmpty && nothing.leave.isEmpty)
  }

  /// The crash handler copies the sequence into a buffer of this size.
  @Test func theLongestSequenceFitsTheEmergency() {
    #expect(TerminalSequences(TerminalHost.Configuration()).leave.utf8.count <= 128)
  }
}
