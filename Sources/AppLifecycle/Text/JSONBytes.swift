/// A buffer in which JSON is built as UTF-8, piece by piece; it keeps its memory from one line to the next.
///
/// Each piece reserves its space once and then uses plain stores, because this code runs in the middle of transitions.
package struct JSONBytes: ~Copyable {
  private var memory: UnsafeMutableBufferPointer<UInt8>
  /// The number of bytes in the buffer.
  package private(set) var count = 0

  package init() { memory = .allocate(capacity: 256) }

  deinit { memory.deallocate() }

  /// The bytes in the buffer.
  ///
  /// The pointer is valid until the next change of this value.
  package var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(UnsafeMutableBufferPointer(rebasing: memory[..<count]))
  }

  /// The contents of the buffer as text.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Empties the buffer, and keeps its memory.
  package mutating func removeAll() { count = 0 }

  /// Appends punctuation or a name without escaping.
  package mutating func append(_ text: StaticString) {
    makeRoom(for: text.utf8CodeUnitCount)
    copy(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends a text without escaping.
  package mutating func append(plain text: String) {
    var text = text
    text.withUTF8 {
      makeRoom(for: $0.count)
      copy($0)
    }
  }

  /// Appends a text as a JSON string in quotes, or `null` for nil.
  ///
  /// Every control character is escaped. JSON allows DEL and the C1 characters without escaping, but a terminal would
  /// obey them.
  package mutating func append(string text: String?) {
    guard var text else { return append("null") }
    text.withUTF8 { text in
      // Six bytes for one is the longest escape there is.
      makeRoom(for: 6 * text.count + 2)
      put(UInt8(ascii: "\""))
      let isPlain = text.allSatisfy {
        $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") && $0 != 0x7F && $0 != Self.leadOfC1
      }
      if isPlain { copy(text) } else { putEscaped(text) }
      put(UInt8(ascii: "\""))
    }
  }

  /// The first byte of U+0080 to U+00BF in UTF-8; the second one is the character's number.
  private static let leadOfC1: UInt8 = 0xC2

  /// Appends a duration as an exact number of seconds, with at least one digit after the point: `0.0`, `0.5`,
  /// `86400.0`.
  package mutating func append(seconds duration: Duration) {
    let (seconds, attoseconds) = duration.components
    makeRoom(for: 48)
    if seconds < 0 || attoseconds < 0 { put(UInt8(ascii: "-")) }
    put(seconds.magnitude, width: 1)
    put(UInt8(ascii: "."))
    var (fraction, width) = (attoseconds.magnitude, 18)
    // The resolution of clocks is nine digits.
    if fraction.isMultiple(of: 1_000_000_000) { (fraction, width) = (fraction / 1_000_000_000, 9) }
    while width > 1, fraction.isMultiple(of: 10) { (fraction, width) = (fraction / 10, width - 1) }
    put(fraction, width: width)
  }

  // MARK: Where there is room

  private mutating func makeRoom(for length: Int) {
    guard memory.count - count < length else { return }
    let wider = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(2 * memory.count, count + length))
    _ = wider.initialize(fromContentsOf: memory[..<count])
    memory.deallocate()
    memory = wider
  }

  private mutating func put(_ byte: UInt8) {
    memory[count] = byte
    count += 1
  }

  private mutating func copy(_ text: UnsafeBufferPointer<UInt8>) {
    guard let source = text.baseAddress, let target = memory.baseAddress else { return }
    (target + count).update(from: source, count: text.count)
    count += text.count
  }

  /// Writes the digits of a number, with leading zeros up to the width.
  private mutating func put(_ number: UInt64, width: Int) {
    var (digits, rest) = (1, number / 10)
    while rest > 0 { (digits, rest) = (digits + 1, rest / 10) }
    rest = number
    let end = count + max(digits, width)
    for place in (count..<end).reversed() {
      memory[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    count = end
  }

  private mutating func putEscaped(_ text: UnsafeBufferPointer<UInt8>) {
    var index = 0
    while index < text.count {
      let byte = text[index]
      index += 1
      if byte == Self.leadOfC1, index < text.count, text[index] < 0xA0 {
        putNumber(text[index])
        index += 1
      } else {
        putEscaped(byte)
      }
    }
  }

  private mutating func putEscaped(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): putPair(byte)
    case UInt8(ascii: "\n"): putPair(UInt8(ascii: "n"))
    case UInt8(ascii: "\r"): putPair(UInt8(ascii: "r"))
    case UInt8(ascii: "\t"): putPair(UInt8(ascii: "t"))
    case ..<0x20, 0x7F: putNumber(byte)
    default: put(byte)
    }
  }

  /// Writes a character up to U+00FF as an escape with its number: `\u001b`.
  private mutating func putNumber(_ character: UInt8) {
    putPair(UInt8(ascii: "u"))
    put(UInt8(ascii: "0"))
    put(UInt8(ascii: "0"))
    putHex(character >> 4)
    putHex(character & 0xF)
  }

  private mutating func putPair(_ byte: UInt8) {
    put(UInt8(ascii: "\\"))
    put(byte)
  }

  private mutating func putHex(_ digit: UInt8) {
    put(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
  }
}

extension String {
  /// The text as a JSON string, in quotes.
  package var asJSON: String {
    var json = JSONBytes()
    json.append(string: self)
    return json.text
  }
}
