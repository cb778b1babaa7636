import AppLifecycle

/// The terminal on standard output.
enum Terminal {
  /// The number of columns; nil if standard output is no terminal, or the terminal does not report it.
  static var width: Int? {
    var size = winsize()
    guard isatty(1) == 1, ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Whether the terminal may not know control sequences, as that in an Emacs shell.
  static var isDumb: Bool { getenv("TERM").map { String(cString: $0) == "dumb" } ?? true }
}

/// The colors of a terminal.
struct Paint {
  /// The condition under which the output is colored.
  enum Choice: String, CaseIterable {
    case auto, always, never
  }

  let isOn: Bool

  init(_ choice: Choice) {
    switch choice {
    case .always: isOn = true
    case .never: isOn = false
    case .auto:
      // https://no-color.org
      let isUnwanted = getenv("NO_COLOR").map { $0[0] != 0 } ?? false
      isOn = isatty(1) == 1 && !isUnwanted && !Terminal.isDumb
    }
  }

  func bold(_ text: String) -> String { code("1", text) }
  func faint(_ text: String) -> String { code("2", text) }
  func alarm(_ text: String) -> String { code("1;31", text) }

  /// A text in the color of a state.
  func state(_ text: String, _ state: ApplicationState) -> String {
    switch state {
    case .active: code("32", text)
    case .inactive: code("33", text)
    case .background: code("34", text)
    case .suspended: code("35", text)
    case .notRunning: code("2", text)
    }
  }

  private func code(_ code: String, _ text: String) -> String { isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}
