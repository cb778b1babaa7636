/// The map from complete control sequences to keys; pure.
///
/// Sources: xterm's “Control Sequences” (PC-style and VT220-style function keys, modifyOtherKeys), the tables of rxvt
/// and of Linux's console, and “Comprehensive keyboard handling in terminals”, which kitty and others implement.
enum KeyMap {
  private typealias Key = Terminal.Key

  /// Returns the keys of the sequence `ESC [`, parameters, final byte; none for a sequence that is not a key.
  ///
  /// A sequence is one key, except for the text of an input method, which is a key for each Unicode scalar. Answers of
  /// the terminal, mouse reports and releases of keys are not keys. xterm sends the same bytes for a modified F3 and
  /// for the cursor's position in the first row; they count as F3.
  ///
  /// - Parameters:
  ///   - bytes: the bytes between introducer and final.
  ///   - final: the last byte.
  /// - Returns: the keys.
  static func controlSequence(_ bytes: [UInt8], final: UInt8) -> [Terminal.Key] {
    guard let parameters = Parameters(bytes) else { return [] }
    if final == UInt8(ascii: "u") { return scalars(parameters) }
    guard let key = function(parameters, final) else { return [] }
    return [key]
  }

  private static func function(_ parameters: Parameters, _ final: UInt8) -> Terminal.Key? {
    switch final {
    case UInt8(ascii: "~"): return tilde(parameters)
    // rxvt encodes the modifier keys in the final byte.
    case UInt8(ascii: "$"): return parameters.count == 1 ? tilde(parameters)?.adding([.shift]) : nil
    case UInt8(ascii: "^"): return parameters.count == 1 ? tilde(parameters)?.adding([.control]) : nil
    case UInt8(ascii: "@"): return parameters.count == 1 ? tilde(parameters)?.adding([.control, .shift]) : nil
    case UInt8(ascii: "a")...UInt8(ascii: "d"):
      return parameters.count == 0 ? letter(final - 0x20).map { Key($0, modifiers: [.shift]) } : nil
    case UInt8(ascii: "Z"): return modifiers(ofLetter: parameters).map { Key(.tab, modifiers: $0.union([.shift])) }
    case UInt8(ascii: "R"):
      // The cursor's position has a column there, which may be any number.
      guard parameters.hasEvent(in: 1) || (parameters[1] ?? 1) <= 16 else { return nil }
      fallthrough
    default:
      guard let kind = letter(final), let modifiers = modifiers(ofLetter: parameters) else { return nil }
      return Key(kind, modifiers: modifiers)
    }
  }

  /// Returns the key of the sequence `ESC O`, parameters, final byte; nil for a sequence that is not a key.
  ///
  /// Such a key is an arrow or a key of the number pad in application mode.
  ///
  /// - Parameters:
  ///   - bytes: the bytes between introducer and final byte, with which some terminals encode the modifier keys.
  ///   - final: the last byte.
  /// - Returns: the key.
  static func singleShift(_ bytes: [UInt8], final: UInt8) -> Terminal.Key? {
    guard let parameters = Parameters(bytes), let modifiers = modifiers(ofLetter: parameters) else { return nil }
    switch final {
    case UInt8(ascii: "a")...UInt8(ascii: "d"): return letter(final - 0x20).map { Key($0, modifiers: [.control]) }
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

  private static func letter(_ final: UInt8) -> Terminal.Key? {
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

  private static func tilde(_ parameters: Parameters) -> Terminal.Key? {
    if parameters.count == 3, parameters[0] == 27 {
      guard let code = parameters[2], let held = Held(parameters, field: 1) else { return nil }
      return scalar(code, held)
    }
    guard (1...2).contains(parameters.count), let number = parameters[0], let kind = kinds[number],
      let held = Held(parameters, field: 1)
    else { return nil }
    return Key(kind, modifiers: held.modifiers)
  }

  private static let kinds: [Int: Terminal.Key] = [
    1: .home, 2: .insert, 3: .delete, 4: .end, 5: .pageUp, 6: .pageDown, 7: .home, 8: .end,
    11: .function(1), 12: .function(2), 13: .function(3), 14: .function(4), 15: .function(5),
    17: .function(6), 18: .function(7), 19: .function(8), 20: .function(9), 21: .function(10),
    23: .function(11), 24: .function(12), 25: .function(13), 26: .function(14), 28: .function(15), 29: .function(16),
    31: .function(17), 32: .function(18), 33: .function(19), 34: .function(20),
  ]

  /// Returns the modifiers of a sequence that ends in a letter: `1;modifiers`, or the modifiers alone.
  private static func modifiers(ofLetter parameters: Parameters) -> Set<Terminal.Key.Modifier>? {
    switch parameters.count {
    case 0: []
    case 1: Held(parameters, field: 0)?.modifiers
    case 2 where (parameters[0] ?? 1) == 1: Held(parameters, field: 1)?.modifiers
    default: nil
    }
  }
}

// MARK: - Keys that are sent as Unicode scalars

extension KeyMap {
  /// Returns the keys of `code:shifted:base;modifiers:event;text u`, in which all but the code may be missing.
  private static func scalars(_ parameters: Parameters) -> [Terminal.Key] {
    guard (1...3).contains(parameters.count), let held = Held(parameters, field: 1) else { return [] }
    // The text is what the key enters, with Shift, Caps Lock and the keyboard's layout.
    let text = parameters.all(2).compactMap { $0.flatMap { UInt32(exactly: $0) }.flatMap(Unicode.Scalar.init) }
    if held.modifiers.isSubset(of: [.shift]), !text.isEmpty, text.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) {
      return text.map { .character(Character($0)) }
    }
    guard let code = parameters[0] else { return [] }
    // Terminals take Ctrl with a letter of another alphabet for the Latin letter in the same place.
    if held.modifiers.contains(.control), code > 0x7F, code < 0xE000, let base = parameters[0, 2] {
      return scalar(base, held).map { [$0] } ?? []
    }
    var unshifted = held
    // The shifted key is what the keyboard's layout has for Shift.
    if !held.locksCaps, !held.modifiers.contains(.control), unshifted.modifiers.remove(.shift) != nil,
      let shifted = parameters[0, 1]
    {
      return scalar(shifted, unshifted).map { [$0] } ?? []
    }
    return scalar(code, held).map { [$0] } ?? []
  }

  /// Returns the key of a Unicode scalar, which terminals send for combinations without bytes of their own, such as
  /// Ctrl-Tab.
  private static func scalar(_ code: Int, _ held: Held) -> Terminal.Key? {
    let modifiers = held.modifiers
    switch code {
    case 8, 127: return Key(.backspace, modifiers: modifiers)
    case 9: return Key(.tab, modifiers: modifiers)
    case 13: return Key(.enter, modifiers: modifiers)
    case 27: return Key(.escape, modifiers: modifiers)
    case 0x20..<0x7F, 0xA0..<0xE000, 0xF900...0x10FFFF:
      guard let scalar = Unicode.Scalar(UInt32(code)) else { return nil }
      if modifiers.contains(.control) { return Key(.character(lowercase(scalar)), modifiers: modifiers) }
      guard scalar.properties.isLowercase || scalar.properties.isUppercase else {
        return Key(.character(Character(scalar)), modifiers: modifiers)
      }
      // Shift is part of a letter. xterm sends the upper case, and kitty the lower case.
      let isUpper = scalar.properties.isUppercase || modifiers.contains(.shift) != held.locksCaps
      let letter = isUpper ? uppercase(scalar) : Character(scalar)
      return Key(.character(letter), modifiers: modifiers.subtracting([.shift]))
    // kitty's numbers of the private area, for keys without characters.
    case 57376...57398: return Key(.function(code - 57376 + 13), modifiers: modifiers)
    default: return pad[code].map { Key($0, modifiers: modifiers) }
    }
  }

  /// Returns the lower case of a character, if that is one Unicode scalar.
  private static func lowercase(_ scalar: Unicode.Scalar) -> Character {
    let text = scalar.properties.lowercaseMapping
    return text.unicodeScalars.count == 1 ? Character(text) : Character(scalar)
  }

  /// Returns the upper case of a character, if that is one Unicode scalar.
  private static func uppercase(_ scalar: Unicode.Scalar) -> Character {
    let text = scalar.properties.uppercaseMapping
    return text.unicodeScalars.count == 1 ? Character(text) : Character(scalar)
  }

  /// The keys of the number pad.
  private static let pad: [Int: Terminal.Key] = {
    let keys: [Terminal.Key] = [
      .character("."), .character("/"), .character("*"), .character("-"), .character("+"), .enter, .character("="),
      .character(","), .left, .right, .up, .down, .pageUp, .pageDown, .home, .end, .insert, .delete,
    ]
    var pad = Dictionary(uniqueKeysWithValues: zip(57409..., keys))
    for digit in 0...9 { pad[57399 + digit] = .character(Character("\(digit)")) }
    return pad
  }()
}

// MARK: - Parameters

extension KeyMap {
  /// The parameters of a control sequence: numbers between semicolons, each with its sub-parameters between colons.
  private struct Parameters {
    private var fields: [[Int?]] = []

    /// Parses the bytes; returns nil if there are others than digits, semicolons and colons.
    init?(_ bytes: [UInt8]) {
      guard !bytes.isEmpty else { return }
      for field in bytes.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false) {
        var numbers: [Int?] = []
        for digits in field.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false) {
          // No number of a key is longer, and no sum with one overflows.
          guard digits.count <= 8, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
          numbers.append(digits.isEmpty ? nil : digits.reduce(0) { $0 * 10 + Int($1 - 0x30) })
        }
        fields.append(numbers)
      }
    }

    var count: Int { fields.count }

    /// A number; nil if it is omitted.
    subscript(field: Int, part: Int = 0) -> Int? {
      field < fields.count && part < fields[field].count ? fields[field][part] : nil
    }

    /// All numbers of a field.
    func all(_ field: Int) -> [Int?] { field < fields.count ? fields[field] : [] }

    /// Whether a field of modifiers also has the kind of the event.
    func hasEvent(in field: Int) -> Bool { all(field).count > 1 }
  }

  /// The modifier keys of a key that was pressed.
  private struct Held {
    var modifiers: Set<Terminal.Key.Modifier> = []
    /// Whether Caps Lock is on.
    var locksCaps = false

    /// Reads `modifiers:event`; returns nil if the key was released, or the numbers mean nothing.
    ///
    /// The modifiers are 1 plus 1 for Shift, 2 for Alt, 4 for Control, 8, 16 and 32 for Meta, Super and Hyper, which
    /// count as Alt, 64 for Caps Lock and 128 for Num Lock. The event is 1 for a press, 2 for a repetition and 3 for a
    /// release.
    init?(_ parameters: Parameters, field: Int) {
      guard parameters.all(field).count <= 2, (1...2).contains(parameters[field, 1] ?? 1),
        case let number = parameters[field] ?? 1, (1...256).contains(number)
      else { return nil }
      let bits = number - 1
      if bits & 1 != 0 { modifiers.insert(.shift) }
      if bits & (2 | 8 | 16 | 32) != 0 { modifiers.insert(.alt) }
      if bits & 4 != 0 { modifiers.insert(.control) }
      locksCaps = bits & 64 != 0
    }
  }
}
