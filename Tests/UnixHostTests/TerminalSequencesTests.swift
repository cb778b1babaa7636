import CUnixHost
import PseudoTerminal
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
  @Test func theHostsOwnSequencesLeaveRoomForTheProgramsOwn() {
    #expect(TerminalSequences(everything).leave.utf8.count <= Int(UNIXHOST_LEAVE_LIMIT) / 2)
  }

  /// Only the alternate key says that Ctrl-C was pressed on a keyboard that is not a Latin one.
  @Test func anyEnhancementBringsTheAlternateKeys() {
    var configuration = TerminalHost.Configuration()
    #expect(!TerminalSequences(configuration).enter.contains("u"))
    configuration.keyEnhancements = [.disambiguated]
    #expect(TerminalSequences(configuration).enter.contains("\u{1B}[>5u"))
  }

  private var everything: TerminalHost.Configuration {
    var configuration = TerminalHost.Configuration()
    configuration.mouseReports = .drags
    configuration.keyEnhancements = [.disambiguated, .eventTypes]
    configuration.cursorShape = .underline
    configuration.title = "a\u{1B}\\b\u{9C}c\nd"
    configuration.enteringSequences = "\u{1B}[?2031h"
    configuration.leavingSequences = "\u{1B}[?2031l"
    return configuration
  }

  /// Each option alone and all together, on a screen or without one: what is begun is on, and what is left is as before.
  @Test(arguments: TerminalHost.MouseReports.allCases, TerminalHost.CursorShape.allCases)
  func whatIsBegunIsEnded(mouse: TerminalHost.MouseReports, shape: TerminalHost.CursorShape) {
    for usesScreen in [true, false] {
      var configuration = everything
      configuration.usesAlternateScreen = usesScreen
      configuration.mouseReports = mouse
      configuration.cursorShape = shape
      let sequences = TerminalSequences(configuration)
      var screen = TerminalScreen(rows: 4, columns: 20)
      screen.feed("\u{1B}]2;before\u{7}\u{1B}[>1u")
      screen.feed(sequences.enter)
      #expect(screen.modes.contains(mouse.mode ?? 2031) && screen.modes.contains(2031))
      #expect(screen.keyFlags == 7 && screen.cursorShape == Int(shape.rawValue) && screen.title == "a\\bcd")
      // As after a SIGSTOP: all is on once more, and no deeper.
      screen.feed(sequences.leaveModes + sequences.enter)
      #expect(screen.keyFlags == 7 && screen.savedTitles.count == 1)
      screen.feed(sequences.leave)
      #expect(screen.mainKeyFlags == [1] && screen.alternateKeyFlags.isEmpty && screen.savedTitles.isEmpty)
      #expect(screen.modes == [7, 25] && screen.cursorShape == 0 && screen.title == "before")
      #expect(!screen.showsAlternate)
    }
  }

  @Test func aDumbTerminalGetsNoSequence() {
    let sequences = TerminalSequences(everything, isDumb: true)
    #expect(sequences.enter.isEmpty && sequences.leave.isEmpty)
  }
}
