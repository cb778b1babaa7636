extension TerminalHost {
  /// The reports of the mouse that a program asks the terminal for.
  ///
  /// A report is a control sequence in SGR's form, in `bytes` of ``Terminal/DidReceiveInput``: `ESC [ < button ; column ;
  /// row M` when a button is pressed or the mouse moves, and `m` at the end when the button is released. Columns and rows
  /// count from 1. The terminal then selects no text with the mouse, unless the user also presses Shift.
  public enum MouseReports: Sendable, Hashable, CaseIterable {
    /// No reports.
    case none
    /// Buttons and the wheel.
    case clicks
    /// Buttons, the wheel, and movements while a button is pressed.
    case drags
    /// Buttons, the wheel, and all movements.
    case motion

    /// The private mode of xterm; nil for no reports.
    var mode: Int? {
      switch self {
      case .none: nil
      case .clicks: 1000
      case .drags: 1002
      case .motion: 1003
      }
    }
  }

  /// An enhancement of kitty's keyboard protocol; the raw value is its bit in the protocol.
  public enum KeyEnhancement: UInt8, Sendable, Hashable, CaseIterable {
    /// Keys that have the same bytes in the legacy form, such as Tab and Ctrl-I, have their own.
    case disambiguated = 1
    /// Repeated and released keys are reported.
    case eventTypes = 2
    /// Each key also has its shifted form, and its place on the usual keyboard.
    case alternateKeys = 4
    /// Keys that enter text are reported in the same form as the others.
    case allKeys = 8
    /// Each key has the text that it enters.
    case associatedText = 16
  }

  /// The shape of the cursor; the raw value is its number in DECSCUSR.
  public enum CursorShape: UInt8, Sendable, Hashable, CaseIterable {
    /// A block that blinks.
    case blinkingBlock = 1
    /// A block.
    case block
    /// A line below the character that blinks.
    case blinkingUnderline
    /// A line below the character.
    case underline
    /// A line before the character that blinks.
    case blinkingBar
    /// A line before the character.
    case bar
  }
}
