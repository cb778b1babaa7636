/// A key, or a text pasted at once.
package enum Key: Hashable, Sendable {
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
///
/// Each byte is looked at once, and little is kept: a state, the bytes of one character, and the beginning of a pasted text. So
/// neither a sequence without an end nor a book from the clipboard costs more than its length.
package struct KeyDecoder: Hashable, Sendable {
  private enum State: Hashable, Sendable {
    case ground
    /// Within a character of so many bytes in UTF-8.
    case character(length: Int)
    /// After `ESC`.
    case escape
    /// After `ESC [`, and nothing else yet.
    case introducer
    /// Within a control sequence; so many bytes of ``KeyDecoder/pasteBegin`` have been seen, or it is another one.
    case sequence(matched: Int?)
    /// After `ESC O`.
    case singleShift
    /// Within a pasted text; so many bytes of ``KeyDecoder/pasteEnd`` have been seen.
    case paste(matched: Int)
  }

  /// More bytes of a pasted text are not kept: whole books fit into a clipboard.
  private static let pasteLimit = 1000
  private static let pasteBegin = Array("200~".utf8)
  private static let pasteEnd = Array("\u{1B}[201~".utf8)

  private var state = State.ground
  /// What is kept of the character or the pasted text that is not complete.
  private var kept: [UInt8] = []

  package init() {}

  /// Takes a piece of what the terminal sends.
  ///
  /// The host keeps an unfinished sequence back for a moment, so one that ends a piece is a key: Escape, Alt-[ or Alt-O.
  ///
  /// - Complexity: linear in the number of bytes.
  package mutating func decode(_ bytes: [UInt8]) -> [Key] {
    var keys: [Key] = []
    var rest = bytes[...]
    while let byte = rest.first {
      if state == .paste(matched: 0), byte != Self.pasteEnd[0] {
        // All up to what may be the end, at once.
        let end = rest.firstIndex(of: Self.pasteEnd[0]) ?? rest.endIndex
        keep(rest[..<end])
        rest = rest[end...]
        continue
      }
      rest = rest.dropFirst()
      if let key = take(byte) { keys.append(key) }
    }
    switch state {
    case .escape:
      keys.append(.escape)
      state = .ground
    case .introducer, .singleShift: state = .ground
    case .ground, .character, .sequence, .paste: break
    }
    return keys
  }

  /// Takes a byte; returns the key that it completes.
  private mutating func take(_ byte: UInt8) -> Key? {
    switch state {
    case .ground: return begin(byte)
    case .character(let length): return takeCharacter(byte, length)
    case .escape:
      switch byte {
      case UInt8(ascii: "["): state = .introducer
      case UInt8(ascii: "O"): state = .singleShift
      case 0x1B: return .escape  // and the second one begins anew
      default: state = .ground  // Alt and a key
      }
    case .introducer: return takeSequence(byte, matched: 0)
    case .sequence(let matched): return takeSequence(byte, matched: matched)
    case .singleShift: state = .ground
    case .paste(let matched): return takePasted(byte, matched)
    }
    return nil
  }

  private mutating func begin(_ byte: UInt8) -> Key? {
    state = .ground
    switch byte {
    case 0x1B: state = .escape
    case 0x0A, 0x0D: return .enter
    case 0x08, 0x7F: return .backspace
    case 0x00..<0x20: return .control(Character(Unicode.Scalar(byte + 0x60)))
    case 0x20..<0x7F: return .character(Character(Unicode.Scalar(byte)))
    // UTF-8 says in its first byte how many follow; a terminal of another encoding sends something else.
    case 0xC2...0xDF: beginCharacter(byte, length: 2)
    case 0xE0...0xEF: beginCharacter(byte, length: 3)
    case 0xF0...0xF4: beginCharacter(byte, length: 4)
    default: break
    }
    return nil
  }

  private mutating func beginCharacter(_ byte: UInt8, length: Int) {
    kept = [byte]
    state = .character(length: length)
  }

  private mutating func takeCharacter(_ byte: UInt8, _ length: Int) -> Key? {
    // What is broken is left out, and holds back no key that follows.
    guard byte & 0xC0 == 0x80 else { return begin(byte) }
    kept.append(byte)
    guard kept.count == length else { return nil }
    state = .ground
    return String(validating: kept, as: UTF8.self).map { .character(Character($0)) }
  }

  private mutating func takeSequence(_ byte: UInt8, matched: Int?) -> Key? {
    switch byte {
    case 0x20...0x3F:
      state = .sequence(matched: matched.flatMap { byte == Self.pasteBegin[$0] ? $0 + 1 : nil })
    case 0x40...0x7E:
      let isPaste = matched == Self.pasteBegin.count - 1 && byte == Self.pasteBegin.last
      state = isPaste ? .paste(matched: 0) : .ground
      kept = []
    // No sequence has such a byte: it was broken off, and this is the next key.
    default: return begin(byte)
    }
    return nil
  }

  private mutating func takePasted(_ byte: UInt8, _ matched: Int) -> Key? {
    if byte == Self.pasteEnd[matched] {
      guard matched + 1 == Self.pasteEnd.count else {
        state = .paste(matched: matched + 1)
        return nil
      }
      state = .ground
      defer { kept = [] }
      return .paste(String(decoding: kept, as: UTF8.self))
    }
    // What looked like the end belongs to the text.
    keep(Self.pasteEnd[..<matched])
    let beginsEnd = byte == Self.pasteEnd[0]
    if !beginsEnd { keep([byte]) }
    state = .paste(matched: beginsEnd ? 1 : 0)
    return nil
  }

  private mutating func keep(_ bytes: some Collection<UInt8>) { kept += bytes.prefix(Self.pasteLimit - kept.count) }
}
