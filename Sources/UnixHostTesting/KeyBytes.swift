import UnixHost

extension Terminal.Key {
  /// The bytes that xterm sends for the key, in its default modes; for F21 to F35, those that kitty sends.
  var bytes: [UInt8] {
    let held: [(Modifier, Int)] = [(.shift, 1), (.alt, 2), (.control, 4)]
    let number = held.reduce(1) { modifiers.contains($1.0) ? $0 + $1.1 : $0 }
    /// A key whose sequence ends in a letter.
    func letter(_ final: Character, _ introducer: Character = "[") -> [UInt8] {
      Array((number == 1 ? "\u{1B}\(introducer)\(final)" : "\u{1B}[1;\(number)\(final)").utf8)
    }
    /// A key whose sequence contains a number.
    func tilde(_ code: Int) -> [UInt8] { Array("\u{1B}[\(code)\(number == 1 ? "" : ";\(number)")~".utf8) }
    /// A key that sends bytes of its own, with `ESC` before them for Alt; with other modifiers it sends its number in a
    /// sequence.
    func plain(_ bytes: [UInt8], _ code: UInt32) -> [UInt8] {
      modifiers.subtracting([.alt]).isEmpty
        ? (modifiers.contains(.alt) ? [0x1B] : []) + bytes : Array("\u{1B}[27;\(number);\(code)~".utf8)
    }
    switch unmodified {
    case .character(let character): return Self.bytes(of: character, modifiers, plain)
    case .enter: return plain([0x0D], 13)
    case .tab: return modifiers == [.shift] ? Array("\u{1B}[Z".utf8) : plain([0x09], 9)
    case .escape: return plain([0x1B], 27)
    case .backspace: return plain([0x7F], 127)
    case .insert: return tilde(2)
    case .delete: return tilde(3)
    case .pageUp: return tilde(5)
    case .pageDown: return tilde(6)
    case .up: return letter("A")
    case .down: return letter("B")
    case .right: return letter("C")
    case .left: return letter("D")
    case .home: return letter("H")
    case .end: return letter("F")
    case .function(let key) where (1...4).contains(key): return letter(["P", "Q", "R", "S"][key - 1], "O")
    case .function(let key) where key > 20:
      return Array("\u{1B}[\(key + 57363)\(number == 1 ? "" : ";\(number)")u".utf8)
    case .function(let key): return Self.functionCodes[key].map(tilde) ?? []
    case .paste(let text, _): return Array("\u{1B}[200~\(text)\u{1B}[201~".utf8)
    case .modified: return []
    }
  }

  private static let functionCodes = [
    5: 15, 6: 17, 7: 18, 8: 19, 9: 20, 10: 21, 11: 23, 12: 24, 13: 25, 14: 26, 15: 28, 16: 29, 17: 31, 18: 32, 19: 33,
    20: 34,
  ]

  /// Returns the bytes of a character: a control code, its own bytes, or a sequence with its number.
  private static func bytes(
    of character: Character, _ modifiers: Set<Modifier>, _ plain: ([UInt8], UInt32) -> [UInt8]
  ) -> [UInt8] {
    let scalar = character.unicodeScalars.first!
    guard modifiers.contains(.control), character.utf8.count == 1 else {
      return plain(Array(character.utf8), scalar.value)
    }
    let byte = UInt8(scalar.value)
    let code: UInt8? =
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - 0x60
      case UInt8(ascii: "\\")...UInt8(ascii: "_"): byte - 0x40
      case UInt8(ascii: " "): 0
      default: nil
      }
    guard let code, modifiers.isSubset(of: [.control, .alt]) else { return plain([byte], scalar.value) }
    return (modifiers.contains(.alt) ? [0x1B] : []) + [code]
  }
}
