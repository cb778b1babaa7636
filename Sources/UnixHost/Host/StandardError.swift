import CUnixHost

/// Writes messages to standard error, for the user at the terminal or the log of a service.
public enum StandardError {
  /// Writes one line.
  ///
  /// Control characters are escaped, because a text may quote a file or a peer: no text can begin another line or
  /// control a terminal. While the program has its screen in the terminal, the line is kept, and shown when the program
  /// leaves the screen.
  ///
  /// A line that cannot be written is lost. Standard error may accept no output, for example a full pipe or a terminal
  /// that is not read. Then the first line waits for a quarter of a second, and later lines do not wait.
  ///
  /// Any thread may call it, also before a host runs. The method uses no buffer and no lock, so a thread can report
  /// code that holds one. A failed write may raise SIGPIPE or SIGXFSZ, which end the process unless a host runs or the
  /// program ignores them.
  ///
  /// - Parameter text: the line, without a line end.
  public static func writeLine(_ text: String) {
    let line = Array("\(text.escaped)\n".utf8)
    _ = unixhost_stderr_write(line, line.count)
  }
}

extension String {
  /// The text with all control characters escaped, such as `\u{1B}`.
  var escaped: String {
    unicodeScalars.reduce(into: "") { text, scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: text += scalar.escaped(asASCII: true)
      default: text.unicodeScalars.append(scalar)
      }
    }
  }
}
