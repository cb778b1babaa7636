/// The tokens of a script's text, with their places.
///
/// Lines and columns count user-perceived characters: a letter with its accents is one, and so is the pair of carriage
/// return and line feed.
struct ScriptLexer {
  struct Token {
    var text: String
    var line: Int
    var column: Int
  }

  private let text: String
  private var index: String.Index
  private var line = 1
  private var column = 1

  init(_ text: String) {
    self.text = text
    index = text.startIndex
  }

  mutating func next() -> Token? {
    skipBlanksAndComments()
    guard index < text.endIndex else { return nil }
    var token = Token(text: "", line: line, column: column)
    while index < text.endIndex, !text[index].separatesTokens {
      token.text.append(text[index])
      advance()
    }
    return token
  }

  /// A comment starts where a token could; a `#` inside a token belongs to it.
  private mutating func skipBlanksAndComments() {
    while index < text.endIndex {
      if text[index].isExactly("#") {
        while index < text.endIndex, !text[index].endsLine { advance() }
      } else if text[index].separatesTokens {
        advance()
      } else {
        return
      }
    }
  }

  private mutating func advance() {
    if text[index].endsLine {
      line += 1
      column = 1
    } else {
      column += 1
    }
    index = text.index(after: index)
  }
}

extension Character {
  /// Returns whether the character consists of this scalar alone.
  ///
  /// `==` also takes canonical equivalents, such as the Greek question mark for a semicolon.
  fileprivate func isExactly(_ scalar: Unicode.Scalar) -> Bool {
    unicodeScalars.count == 1 && unicodeScalars.first == scalar
  }

  fileprivate var endsLine: Bool { isExactly("\n") || isExactly("\r") || unicodeScalars.elementsEqual(["\r", "\n"]) }

  /// Whether the character separates tokens.
  ///
  /// A space with an accent does not: the accent would be lost.
  fileprivate var separatesTokens: Bool {
    isExactly(";") || unicodeScalars.allSatisfy(\.properties.isWhitespace)
  }
}
