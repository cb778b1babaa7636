import Glibc

/// Something that the system refused: what it was about, and why.
package struct SystemError: Error, Hashable, CustomStringConvertible {
  package let subject: String
  package let reason: String

  package init(_ subject: String, _ reason: String) { (self.subject, self.reason) = (subject, reason) }

  /// The reason is the text of `errno`, the last call's by default.
  package init(_ subject: String, errno code: CInt = errno) { self.init(subject, String(cString: strerror(code))) }

  package var description: String { "\(subject): \(reason)".escaped }
}

extension String {
  /// The text with everything that a terminal would obey, rather than show, made visible: `\u{1B}`.
  ///
  /// Texts of strangers (a file, a server, a command line) come to a terminal through here only.
  package var escaped: String {
    guard unicodeScalars.contains(where: \.isControl) else { return self }
    return unicodeScalars.reduce(into: "") { $0 += $1.isControl ? $1.escaped(asASCII: true) : String($1) }
  }
}

extension Unicode.Scalar {
  /// Control characters, and the format characters that turn the direction of what follows.
  fileprivate var isControl: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
    case .format: value != 0x200D  // the joiner inside an emoji is harmless
    default: false
    }
  }
}
