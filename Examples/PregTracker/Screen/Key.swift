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
    default:
      // UTF-8 says in its first byte how many follow.
      let length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
      guard pending.count >= length else { return .none }
      guard let text = String(validating: pending[..<length], as: UTF8.self) else { return take(1, nil) }
      return take(length, .character(Character(text)))
    }
  }

  private mutating func nextEscape() -> Key?? {
    // The host keeps an unfinished sequence back, so one that ends a piece is the key.
    guard pending.count > 1 else { return take(1, .escape) }
    switch pending[1] {
    case UInt8(ascii: "["):
      guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else { return .none }
      if pending[...end].elementsEqual(Self.pasteBegin) { isPasting = true }
      return take(end + 1, nil)
    case UInt8(ascii: "O"): return pending.count > 2 ? take(3, nil) : .none
    case 0x1B: return take(1, .escape)
    default: return take(2, nil)  // Alt and a key
    }
  }

  private mutating func nextOfPaste() -> Key?? {
    guard let end = pending.firstRange(of: Self.pasteEnd) else { return .none }
    let text = String(decoding: pending[..<end.lowerBound], as: UTF8.self)
    isPasting = false
    return take(end.upperBound, .paste(text))
  }

  private mutating func take(_ count: Int, _ key: Key?) -> Key?? {
    pending.removeFirst(count)
    return .some(key)
  }
}
