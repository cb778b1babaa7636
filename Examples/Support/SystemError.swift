import Glibc

/// An error of a system call: the subject of the call, and the reason.
package struct SystemError: Error, Hashable, CustomStringConvertible {
  package let subject: String
  package let reason: String

  package init(_ subject: String, _ reason: String) { (self.subject, self.reason) = (subject, reason) }

  /// The reason is the text of `errno`, the last call's by default.
  package init(_ subject: String, errno code: CInt = errno) { self.init(subject, String(cString: strerror(code))) }

  package var description: String { "\(subject): \(reason)".escaped }
}

extension String {
  /// The text with every character that a terminal would obey made visible, such as `\u{1B}`.
  ///
  /// Text from outside (a file, a server, a command line) reaches a terminal only through this property.
  package var escaped: String {
    guard unicodeScalars.contains(where: \.isControl) else { return self }
    return unicodeScalars.reduce(into: "") { $0 += $1.isControl ? $1.escaped(asASCII: true) : String($1) }
  }
}

extension Unicode.Scalar {
  /// Whether this is a control character, or a format character that changes the direction of the text after it.
  fileprivate var isControl: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
    case .format: value != 0x200D  // the joiner inside an emoji is harmless
    default: false
    }
  }
}
