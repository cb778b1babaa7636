import AppLifecycleTesting

/// A text with any bytes, read as a script.
enum ScriptInput {
  static func run(_ bytes: [UInt8]) throws {
    let text = String(decoding: bytes, as: UTF8.self)
    let script: Script
    do {
      script = try Script(text)
    } catch {
      let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      try promise((1...lines.count).contains(error.line) && error.column >= 1, "a mistake is outside of the text")
      try promise(error.description.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "a message is not printable")
      return
    }
    let tokens = script.actions.map(\.token)
    let again = try Script(tokens.joined(separator: "; "))
    try promise(again.actions.map(\.kind) == script.actions.map(\.kind), "the tokens alone are another script")
  }
}
