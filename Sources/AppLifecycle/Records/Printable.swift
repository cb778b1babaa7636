extension String {
  /// The text with every character that a terminal would obey escaped, such as `\u{1B}`.
  ///
  /// Every text of the program, of a file or of a peer passes it on its way to a terminal or a manager.
  package var printable: String {
    guard unicodeScalars.contains(where: \.isControl) else { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      if scalar.isControl {
        text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
  }
}

extension Unicode.Scalar {
  /// Whether the character moves, hides or reverses other text.
  fileprivate var isControl: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: value != 0x200D
    default: false
    }
  }
}
