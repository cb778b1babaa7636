/// A decoder for Base64 in the usual alphabet, with or without padding.
enum Base64 {
  /// Decodes a text; returns nil if it is not Base64.
  static func decode(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var bits = 0
    var value: UInt32 = 0
    let digits = text.utf8.filter { $0 != UInt8(ascii: "\n") }
    let padding = digits.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard padding <= 2 else { return nil }
    for digit in digits.dropLast(padding) {
      guard let worth = worth(of: digit) else { return nil }
      value = value << 6 | worth
      bits += 6
      guard bits >= 8 else { continue }
      bits -= 8
      bytes.append(UInt8(truncatingIfNeeded: value >> bits))
    }
    // A single digit does not make a byte.
    return bits == 6 ? nil : bytes
  }

  private static func worth(of digit: UInt8) -> UInt32? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
