extension String {
  /// The text with every character that a terminal would obey escaped, such as `\u{1B}`.
  ///
  /// Every text of the program, of a file or of a peer passes it on its way to a terminal or a manager.
  package var printable: String { escaped(where: \.isControl) }

  /// Returns the text with some characters escaped as in a Swift literal: `\"`, `\\` and `\u{1B}`.
  package func escaped(where isEscaped: (Unicode.Scalar) -> Bool) -> String {
    guard unicodeScalars.contains(where: isEscaped) else { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      switch scalar {
      case _ where !isEscaped(scalar): text.unicodeScalars.append(scalar)
      case "\"", "\\": text += "\\\(scalar)"
      default: text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      }
    }
  }

  /// Returns the beginning of the text, with an ellipsis, if it is longer than the limit.
  package func cut(toScalars limit: Int) -> String {
    let end = unicodeScalars.index(startIndex, offsetBy: limit, limitedBy: endIndex) ?? endIndex
    return end == endIndex ? self : String(unicodeScalars[..<end]) + "…"
  }

  /// Returns the text, aligned to the right in a number of columns.
  package func leftPadded(to width: Int, with character: Character = " ") -> String {
    String(repeating: character, count: max(0, width - count)) + self
  }

  /// Returns the text, aligned to the left in a number of columns.
  package func rightPadded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
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
