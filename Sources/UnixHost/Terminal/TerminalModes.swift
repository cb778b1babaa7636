#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The modes of a terminal's line discipline.
struct TerminalModes: Sendable {
  private(set) var attributes: termios

  /// The modes that the terminal has; nil if it cannot be asked.
  init?(of descriptor: Int32) {
    var attributes = termios()
    guard tcgetattr(descriptor, &attributes) == 0 else { return nil }
    self.attributes = attributes
  }

  /// These modes without line editing, echo and flow control: every key arrives at once, Ctrl-S and Ctrl-M included.
  ///
  /// Also without the keys that make signals: ``SignalKeys`` says why.
  var raw: TerminalModes {
    var modes = self
    modes.attributes.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN | ISIG)
    modes.attributes.c_iflag &= ~tcflag_t(IXON | ICRNL)
    withUnsafeMutableBytes(of: &modes.attributes.c_cc) { characters in
      characters[Int(VMIN)] = 1
      characters[Int(VTIME)] = 0
    }
    return modes
  }

  /// Whether the kernel makes signals of Ctrl-C and Ctrl-Z.
  var makesSignals: Bool { attributes.c_lflag & tcflag_t(ISIG) != 0 }

  /// One of the special characters: `VINTR` and the like.
  func character(_ place: Int32) -> UInt8 { withUnsafeBytes(of: attributes.c_cc) { $0[Int(place)] } }

  /// Whether the other modes say the same about input, output and editing.
  func isAlike(_ other: TerminalModes) -> Bool {
    attributes.c_iflag == other.attributes.c_iflag && attributes.c_oflag == other.attributes.c_oflag
      && attributes.c_lflag == other.attributes.c_lflag
  }

  /// Gives the terminal these modes, unless it belongs to another job.
  ///
  /// At once: waiting until the terminal has taken all output would never end where it is not read.
  ///
  /// - Parameters:
  ///   - descriptor: the terminal.
  ///   - isForeground: asked after an interruption: SIGTTOU, or another signal that means nothing here?
  /// - Returns: whether the terminal has them now.
  func set(on descriptor: Int32, while isForeground: () -> Bool) -> Bool {
    var attributes = attributes
    while tcsetattr(descriptor, TCSANOW, &attributes) != 0 {
      guard errno == EINTR, isForeground() else { return false }
    }
    return true
  }
}

/// What is written to a terminal to enter and leave a program's screen.
struct TerminalSequences: Sendable, Hashable {
  /// Begins the screen, focus reports, bracketed paste.
  let enter: String
  /// Ends them, in the order that leaves nothing behind: what reports input first, the screen last.
  let leave: String

  init(_ configuration: TerminalHost.Configuration) {
    var enter = ""
    var leave = ""
    if configuration.usesAlternateScreen { enter += "\u{1B}[?1049h\u{1B}[?25l" }
    if configuration.reportsFocus { enter += "\u{1B}[?1004h" }
    if configuration.bracketsPaste {
      enter += "\u{1B}[?2004h"
      leave += "\u{1B}[?2004l"
    }
    if configuration.reportsFocus { leave += "\u{1B}[?1004l" }
    if configuration.usesAlternateScreen {
      enter += "\u{1B}[2J\u{1B}[H"
      leave += "\u{1B}[?25h\u{1B}[0m\u{1B}[?1049l"
    }
    self.enter = enter
    self.leave = leave
  }
}
