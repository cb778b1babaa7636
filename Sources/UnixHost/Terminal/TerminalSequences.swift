/// The output that enters and leaves a program's screen, and begins and ends the modes of the terminal that it asks for.
struct TerminalSequences: Sendable, Hashable {
  /// The sequences that begin the screen, focus reports, bracketed paste, and what else the configuration asks for.
  let enter: String
  /// The sequences that end all but the screen: first those that report input, so that no report remains unread.
  let leaveModes: String
  private let leaveScreen: String

  /// The sequences that end what ``enter`` has begun, the screen last.
  var leave: String { leaveModes + leaveScreen }

  /// Makes the sequences of a configuration; a terminal that shows them instead of obeying them gets none.
  init(_ configuration: TerminalHost.Configuration, isDumb: Bool = false) {
    guard !isDumb else {
      (enter, leaveModes, leaveScreen) = ("", "", "")
      return
    }
    var enter = ""
    var leave = ""
    if configuration.usesAlternateScreen { enter += "\u{1B}[?1049h\u{1B}[?25l" }
    if configuration.reportsFocus { enter += "\u{1B}[?1004h" }
    if configuration.bracketsPaste { enter += "\u{1B}[?2004h" }
    if configuration.usesAlternateScreen { enter += "\u{1B}[2J\u{1B}[H" }
    leave += configuration.leavingSequences
    if let mode = configuration.mouseReports.mode {
      // Reports in SGR's form have no limit of 223 columns, and are control sequences.
      enter += "\u{1B}[?1006h\u{1B}[?\(mode)h"
      leave += "\u{1B}[?\(mode)l\u{1B}[?1006l"
    }
    if !configuration.keyEnhancements.isEmpty {
      // With another keyboard than a Latin one, only the alternate key tells that Ctrl-C was pressed.
      let flags = configuration.keyEnhancements.union([.alternateKeys]).map(\.rawValue).reduce(0, |)
      // The alternate screen has a stack of its own, so this comes after its beginning and before its end.
      enter += "\u{1B}[>\(flags)u"
      leave += "\u{1B}[<u"
    }
    if configuration.bracketsPaste { leave += "\u{1B}[?2004l" }
    if configuration.reportsFocus { leave += "\u{1B}[?1004l" }
    if let shape = configuration.cursorShape {
      enter += "\u{1B}[\(shape.rawValue) q"
      leave += "\u{1B}[0 q"
    }
    if let title = configuration.title {
      enter += "\u{1B}[22;2t\u{1B}]2;\(Self.plain(title))\u{1B}\\"
      leave += "\u{1B}[23;2t"
    }
    self.enter = enter + configuration.enteringSequences
    leaveModes = leave
    leaveScreen = configuration.usesAlternateScreen ? "\u{1B}[?25h\u{1B}[0m\u{1B}[?1049l" : ""
  }

  /// The text without control characters, which would end the sequence that contains it.
  private static func plain(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.properties.generalCategory != .control }))
  }
}
