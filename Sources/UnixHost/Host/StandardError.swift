import CUnixHost

/// Messages for the person at the terminal, or for the log of a service.
public enum StandardError {
  /// Writes one line.
  ///
  /// What would begin another line or command a terminal is made visible: a text may quote a file or a peer. While a program has its
  /// screen in the terminal, the line is kept and shown when the screen is left.
  ///
  /// Nothing may depend on the line: one that cannot be written is lost. Standard error that takes nothing, such as a terminal
  /// that is not read or a full pipe, delays the first line by a quarter of a second and no other. Written without buffers or locks,
  /// so it also works for a thread that reports what holds those. Any thread, also before a host runs; SIGPIPE and SIGXFSZ, which
  /// a failed write may bring, end the process unless a host runs or the program ignores them.
  ///
  /// - Parameter text: the line, without its end.
  public static func writeLine(_ text: String) {
    let line = Array("\(text.escaped)\n".utf8)
    _ = unixhost_stderr_write(line, line.count)
  }
}

extension String {
  /// The text with everything that a terminal would obey, rather than show, made visible: `\u{1B}`.
  var escaped: String {
    unicodeScalars.reduce(into: "") { text, scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: text += scalar.escaped(asASCII: true)
      default: text.unicodeScalars.append(scalar)
      }
    }
  }
}
