import LibC

/// The modes of a terminal's line discipline.
struct TerminalModes: Sendable {
  private(set) var attributes: termios

  /// Reads the current modes of a terminal; returns nil on an error.
  init?(of descriptor: Int32) {
    var attributes = termios()
    guard tcgetattr(descriptor, &attributes) == 0 else { return nil }
    self.attributes = attributes
  }

  /// The modes without line editing, echo and flow control, so that each key arrives at once, including Ctrl-S and
  /// Ctrl-M.
  ///
  /// The keys that send signals are also switched off; ``SignalKeys`` has the reason.
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

  /// Whether the kernel delivers input line by line.
  var editsLines: Bool { attributes.c_lflag & tcflag_t(ICANON) != 0 }

  /// Whether the kernel sends signals for Ctrl-C and Ctrl-Z.
  var makesSignals: Bool { attributes.c_lflag & tcflag_t(ISIG) != 0 }

  /// Returns one of the special characters, such as `VINTR`.
  func character(_ place: Int32) -> UInt8 { withUnsafeBytes(of: attributes.c_cc) { $0[Int(place)] } }

  /// Whether the other modes are the same for input, output and editing.
  func isAlike(_ other: TerminalModes) -> Bool {
    attributes.c_iflag == other.attributes.c_iflag && attributes.c_oflag == other.attributes.c_oflag
      && attributes.c_lflag == other.attributes.c_lflag
  }

  /// Sets these modes on a terminal, unless another job owns it.
  ///
  /// The modes are set at once. Waiting until the terminal has accepted all output would never end if it is not read.
  ///
  /// In a PID namespace that shares the job of a process outside it, all groups of that job and of others have the number 0,
  /// so the owner is unknown, and the method gives up after ``interruptionLimit`` interruptions.
  ///
  /// - Parameters:
  ///   - descriptor: the terminal.
  ///   - isForeground: a closure that is called after an interruption, to distinguish SIGTTOU from a signal without
  ///     meaning here.
  /// - Returns: whether the terminal has the modes now.
  func set(on descriptor: Int32, while isForeground: () -> Bool) -> Bool {
    var attributes = attributes
    for _ in 0...Self.interruptionLimit {
      if tcsetattr(descriptor, TCSANOW, &attributes) == 0 { return true }
      guard errno == EINTR, isForeground() else { return false }
    }
    return false
  }

  /// The limit for retries of an interrupted call: if the terminal refuses a background job, each try is interrupted.
  static let interruptionLimit = 16
}
