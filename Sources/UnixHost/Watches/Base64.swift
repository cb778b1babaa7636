/// A decoder for Base64 in the usual alphabet, with or without padding.
enum Base64 {
  /// The digits, in the order of what they are worth.
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Decodes a text; returns nil if it is not Base64.
  static func decode(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var bits = 0
    var value: UInt32 = 0
    let digits = text.utf8.filter { $0 != UInt8(ascii: "\n") }
    let padding = digits.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard padding <= 2 else { return nil }
    for digit in digits.dropLast(padding) {
      guard let worth = alphabet.firstIndex(of: digit) else { return nil }
      value = value << 6 | UInt32(worth)
      bits += 6
      guard bits >= 8 else { continue }
      bits -= 8
      bytes.append(UInt8(truncatingIfNeeded: value >> bits))
    }
    // A single digit does not make a byte.
    return bits == 6 ? nil : bytes
  }
}
