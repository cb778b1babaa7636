/// A key, or a text pasted at once.
enum Key: Hashable, Sendable {
  case character(Character)
  case enter, escape, backspace
  /// Ctrl and a letter, in lower case.
  case control(Character)
  case paste(String)
}

/// Makes keys of the bytes that a terminal sends.
///
/// Sequences may come in pieces; those of keys that the program has no use for
/// (arrows, function keys) are swallowed whole, so that their letters are never taken for keys.
struct KeyDecoder: Hashable, Sendable {
  private var pending: [UInt8] = []
  private var isPasting = false
  private var pasted: [UInt8] = []

  /// More bytes of a pasted text are not kept: whole books fit into a clipboard.
  private static let pasteLimit = 1000
  private static let pasteBegin = Array("\u{1B}[200~".utf8)
  private static let pasteEnd = Array("\u{1B}[201~".utf8)

  mutating func decode(_ bytes: [UInt8]) -> [Key] {
    pending += bytes
    var keys: [Key] = []
    while let key = next() { key.map { keys.append($0) } }
    return keys
  }

  /// The next key; nil inside for what means nothing, nil outside when more bytes are needed.
  private mutating func next() -> Key?? {
    if isPasting { return nextOfPaste() }
    guard let first = pending.first else { return .none }
    switch first {
    case 0x1B: return nextEscape()
    case 0x0A, 0x0D: return take(1, .enter)
    case 0x08, 0x7F: return take(1, .backspace)
    case 0x00..<0x20: return take(1, .control(Character(Unicode.Scalar(first + 0x60))))
    default: return nextCharacter(first)
    }
  }

  private mutating func nextCharacter(_ first: UInt8) -> Key?? {
    // UTF-8 says in its first byte how many follow; a terminal of another encoding sends something else.
    let length =
      switch first {
      case 0xC2...0xDF: 2
      case 0xE0...0xEF: 3
      case 0xF0...0xF4: 4
      default: 1
      }
    let bytes = pending.prefix(length)
    guard bytes.dropFirst().allSatisfy({ $0 & 0xC0 == 0x80 }) else { return take(1, nil) }
    guard bytes.count == length else { return .none }
    guard let text = String(validating: bytes, as: UTF8.self) else { return take(1, nil) }
    return take(length, .character(Character(text)))
  }

  private mutating func nextEscape() -> Key?? {
    // The host keeps an unfinished sequence back for a moment, so one that ends a piece is a key: Escape, Alt-[ or Alt-O.
    guard pending.count > 1 else { return take(1, .escape) }
    switch pending[1] {
    case UInt8(ascii: "[") where pending.count == 2, UInt8(ascii: "O") where pending.count == 2: return take(2, nil)
    case UInt8(ascii: "["):
      guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else { return .none }
      if pending[...end].elementsEqual(Self.pasteBegin) { isPasting = true }
      return take(end + 1, nil)
    case UInt8(ascii: "O"): return take(3, nil)
    case 0x1B: return take(1, .escape)
    default: return take(2, nil)  // Alt and a key
    }
  }

  private mutating func nextOfPaste() -> Key?? {
    let end = pending.firstRange(of: Self.pasteEnd)
    // Without the end, its first bytes may be there.
    let count = end?.lowerBound ?? max(pending.count - (Self.pasteEnd.count - 1), 0)
    pasted += pending[..<min(count, Self.pasteLimit - pasted.count)]
    guard let end else {
      pending.removeFirst(count)
      return .none
    }
    defer { pasted = [] }
    isPasting = false
    return take(end.upperBound, .paste(String(decoding: pasted, as: UTF8.self)))
  }

  private mutating func take(_ count: Int, _ key: Key?) -> Key?? {
    pending.removeFirst(count)
    return .some(key)
  }
}
