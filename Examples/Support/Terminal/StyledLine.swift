/// One line of the screen: pieces of text, each with a style.
///
/// It knows its width, so that a layout can be exact.
package struct StyledLine: Hashable, Sendable, ExpressibleByStringLiteral {
  package enum Style: Hashable, Sendable { case plain, bold, dim, reversed, accent, warning }

  package struct Span: Hashable, Sendable {
    package var text: String
    package var style: Style
  }

  package private(set) var spans: [Span] = []

  package init() {}
  package init(_ text: String, _ style: Style = .plain) { append(text, style) }
  package init(stringLiteral text: String) { self.init(text) }

  package var text: String { spans.map(\.text).joined() }
  package var width: Int { spans.reduce(0) { $0 + $1.text.columns } }

  /// Adds text.
  ///
  /// Control characters in it are made visible, so that it cannot move the cursor or change the terminal.
  package mutating func append(_ text: String, _ style: Style = .plain) {
    if !text.isEmpty { spans.append(Span(text: text.limited.escaped, style: style)) }
  }

  package mutating func pad(to width: Int) { append(String(repeating: " ", count: max(0, width - self.width))) }

  package func adding(_ text: String, _ style: Style = .plain) -> StyledLine {
    var line = self
    line.append(text, style)
    return line
  }

  /// The line, cut with an ellipsis if it is wider than the screen.
  package func cut(to columns: Int) -> StyledLine {
    guard width > columns else { return self }
    var line = StyledLine()
    var room = columns - 1
    for span in spans {
      let part = String(span.text.prefix(columns: room))
      line.append(part, span.style)
      room -= part.columns
      if part != span.text {
        line.append(columns > 0 ? "…" : "", span.style)
        break
      }
    }
    return line
  }

  /// The line as a terminal wants it.
  package var rendered: String {
    spans.map { span in
      guard let code = span.style.code else { return span.text }
      return "\u{1B}[\(code)m\(span.text)\u{1B}[0m"
    }.joined()
  }
}

extension StyledLine.Style {
  /// The parameters of the terminal's Select Graphic Rendition; nil for plain text.
  fileprivate var code: String? {
    switch self {
    case .plain: nil
    case .bold: "1"
    case .dim: "2"
    case .reversed: "7"
    case .accent: "35"
    case .warning: "33"
    }
  }
}

extension StringProtocol {
  /// The width of the text in columns of a terminal.
  package var columns: Int { reduce(0) { $0 + $1.columns } }

  /// As much of the beginning as fits.
  package func prefix(columns limit: Int) -> SubSequence {
    var width = 0
    return prefix {
      width += $0.columns
      return width <= limit
    }
  }
}

extension String {
  /// The longest text, in Unicode scalars: more than any screen shows.
  private static let mostScalars = 4096
  /// The most marks on a character: more than any character of a language or any emoji has.
  private static let mostScalarsOfCharacter = 16

  /// The text, cut to the longest length, and each character to its first marks.
  ///
  /// A file, a server or a command line may hold a character with a million combining marks.
  package var limited: String {
    guard utf8.count > Self.mostScalarsOfCharacter else { return self }
    let text = String(unicodeScalars.prefix(Self.mostScalars))
    guard text.contains(where: { $0.unicodeScalars.count > Self.mostScalarsOfCharacter }) else { return text }
    return text.reduce(into: "") {
      $0.unicodeScalars.append(contentsOf: $1.unicodeScalars.prefix(Self.mostScalarsOfCharacter))
    }
  }
}

extension Character {
  /// The width: two columns for the ideographs, Hangul, full-width forms and emoji that terminals draw so wide, else one.
  fileprivate var columns: Int {
    guard let first = unicodeScalars.first else { return 0 }
    if first.properties.isEmojiPresentation { return 2 }
    switch first.value {
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
      0xFFE0...0xFFE6, 0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }
}
