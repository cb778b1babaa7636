/// The map from complete control sequences to keys; pure.
///
/// Sources: xterm's “Control Sequences” (PC-style and VT220-style function keys, modifyOtherKeys), the tables of rxvt
/// and of Linux's console.
enum KeyMap {
  private typealias Key = Terminal.Key

  /// Returns the key of the sequence `ESC [`, parameters, final byte; nil for a sequence that is not a key.
  ///
  /// Answers of the terminal and mouse reports are not keys. xterm sends the same bytes for a modified F3 and for the
  /// cursor's position in the first row; they count as F3.
  ///
  /// - Parameters:
  ///   - parameters: the bytes between introducer and final.
  ///   - final: the last byte.
  /// - Returns: the key.
  static func controlSequence(_ parameters: [UInt8], final: UInt8) -> Terminal.Key? {
    guard let numbers = numbers(parameters) else { return nil }
    switch final {
    case UInt8(ascii: "~"): return tilde(numbers)
    case UInt8(ascii: "u"):
      guard (1...2).contains(numbers.count) else { return nil }
      return scalar(numbers[0], numbers.count == 2 ? numbers[1] : nil)
    // rxvt encodes the modifier keys in the final byte.
    case UInt8(ascii: "$"): return numbers.count == 1 ? tilde(numbers)?.adding(.shift) : nil
    case UInt8(ascii: "^"): return numbers.count == 1 ? tilde(numbers)?.adding(.control) : nil
    case UInt8(ascii: "@"): return numbers.count == 1 ? tilde(numbers)?.adding([.control, .shift]) : nil
    case UInt8(ascii: "a")...UInt8(ascii: "d"):
      return numbers.isEmpty ? letter(final - 0x20).map { Key($0, modifiers: .shift) } : nil
    case UInt8(ascii: "Z"): return modifiers(ofLetter: numbers).map { Key(.tab, modifiers: $0.union(.shift)) }
    default:
      guard let kind = letter(final), let modifiers = modifiers(ofLetter: numbers) else { return nil }
      return Key(kind, modifiers: modifiers)
    }
  }

  /// Returns the key of the sequence `ESC O`, parameters, final byte; nil for a sequence that is not a key.
  ///
  /// Such a key is an arrow or a key of the number pad in application mode.
  ///
  /// - Parameters:
  ///   - parameters: the bytes between introducer and final byte, with which some terminals encode the modifier keys.
  ///   - final: the last byte.
  /// - Returns: the key.
  static func singleShift(_ parameters: [UInt8], final: UInt8) -> Terminal.Key? {
    guard let numbers = numbers(parameters), let modifiers = modifiers(ofLetter: numbers) else { return nil }
    switch final {
    case UInt8(ascii: "a")...UInt8(ascii: "d"): return letter(final - 0x20).map { Key($0, modifiers: .control) }
    case UInt8(ascii: "M"): return Key(.enter, modifiers: modifiers)
    case UInt8(ascii: "I"): return Key(.tab, modifiers: modifiers)
    case UInt8(ascii: "X"): return Key(.character("="), modifiers: modifiers)
    // `*+,-./` and the digits, in the order of ASCII.
    case UInt8(ascii: "j")...UInt8(ascii: "y"):
      return Key(.character(Character(Unicode.Scalar(final - 0x40))), modifiers: modifiers)
    default: return letter(final).map { Key($0, modifiers: modifiers) }
    }
  }

  /// Returns the key of `ESC [ [` and a letter, with which Linux's console sends F1 to F5.
  static func linuxFunction(_ letter: UInt8) -> Terminal.Key? {
    (UInt8(ascii: "A")...UInt8(ascii: "E")).contains(letter) ? .function(Int(letter - 0x40)) : nil
  }

  private static func letter(_ final: UInt8) -> Terminal.Key.Kind? {
    switch final {
    case UInt8(ascii: "A"): .up
    case UInt8(ascii: "B"): .down
    case UInt8(ascii: "C"): .right
    case UInt8(ascii: "D"): .left
    case UInt8(ascii: "H"): .home
    case UInt8(ascii: "F"): .end
    case UInt8(ascii: "P")...UInt8(ascii: "S"): .function(Int(final - UInt8(ascii: "P")) + 1)
    default: nil
    }
  }

  private static func tilde(_ numbers: [Int?]) -> Terminal.Key? {
    if numbers.count == 3, numbers[0] == 27 { return scalar(numbers[2], numbers[1]) }
    guard (1...2).contains(numbers.count), let number = numbers[0], let kind = kinds[number],
      let modifiers = modifiers(numbers.count == 2 ? numbers[1] : nil)
    else { return nil }
    return Key(kind, modifiers: modifiers)
  }

  private static let kinds: [Int: Terminal.Key.Kind] = [
    1: .home, 2: .insert, 3: .delete, 4: .end, 5: .pageUp, 6: .pageDown, 7: .home, 8: .end,
    11: .function(1), 12: .function(2), 13: .function(3), 14: .function(4), 15: .function(5),
    17: .function(6), 18: .function(7), 19: .function(8), 20: .function(9), 21: .function(10),
    23: .function(11), 24: .function(12), 25: .function(13), 26: .function(14), 28: .function(15), 29: .function(16),
    31: .function(17), 32: .function(18), 33: .function(19), 34: .function(20),
  ]

  /// Returns the key of a Unicode scalar, which terminals send for combinations without bytes of their own, such as
  /// Ctrl-Tab.
  private static func scalar(_ code: Int?, _ modifier: Int?) -> Terminal.Key? {
    guard let code, let modifiers = modifiers(modifier) else { return nil }
    switch code {
    case 8, 127: return Key(.backspace, modifiers: modifiers)
    case 9: return Key(.tab, modifiers: modifiers)
    case 13: return Key(.enter, modifiers: modifiers)
    case 27: return Key(.escape, modifiers: modifiers)
    // Some terminals use numbers of the private area for keys without characters.
    case 0x20..<0x7F, 0xA0..<0xE000, 0xF900...0x10FFFF:
      guard let scalar = Unicode.Scalar(UInt32(code)) else { return nil }
      // An uppercase character already implies Shift.
      let rest = modifiers == .shift && scalar.properties.isUppercase ? [] : modifiers
      return Key(.character(Character(scalar)), modifiers: rest)
    default: return nil
    }
  }

  /// Returns the numbers between semicolons, with nil for an omitted one; returns nil if there are other bytes.
  private static func numbers(_ parameters: [UInt8]) -> [Int?]? {
    guard !parameters.isEmpty else { return [] }
    var numbers: [Int?] = []
    for field in parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false) {
      guard field.count <= 8, field.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      numbers.append(field.isEmpty ? nil : field.reduce(0) { $0 * 10 + Int($1 - 0x30) })
    }
    return numbers
  }

  /// Returns the modifiers of a sequence that ends in a letter: `1;modifiers`, or the modifiers alone.
  private static func modifiers(ofLetter numbers: [Int?]) -> Terminal.Key.Modifiers? {
    switch numbers.count {
    case 0: []
    case 1: modifiers(numbers[0])
    case 2 where (numbers[0] ?? 1) == 1: modifiers(numbers[1])
    default: nil
    }
  }

  /// Returns the modifiers of a number, which is 1 plus 1 for Shift, 2 for Alt, 4 for Control and 8 for Meta, which
  /// counts as Alt.
  private static func modifiers(_ number: Int?) -> Terminal.Key.Modifiers? {
    guard let number else { return [] }
    guard (1...16).contains(number) else { return nil }
    let bits = number - 1
    var modifiers: Terminal.Key.Modifiers = []
    if bits & 1 != 0 { modifiers.insert(.shift) }
    if bits & (2 | 8) != 0 { modifiers.insert(.alt) }
    if bits & 4 != 0 { modifiers.insert(.control) }
    return modifiers
  }
}
