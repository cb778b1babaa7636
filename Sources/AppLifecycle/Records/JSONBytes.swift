/// JSON in the making: UTF-8, put together piece by piece in memory that is kept from one line to the next.
///
/// Room is made once for each piece, and the rest is plain stores: this runs in the middle of transitions.
package struct JSONBytes: ~Copyable {
  private var memory: UnsafeMutableBufferPointer<UInt8>
  /// How many bytes have been put together.
  package private(set) var count = 0

  package init() { memory = .allocate(capacity: 256) }

  deinit { memory.deallocate() }

  /// What has been put together.
  ///
  /// The memory is this value's: it holds until the next change.
  package var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(UnsafeMutableBufferPointer(rebasing: memory[..<count]))
  }

  /// The same as text.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Begins anew, in the same memory.
  package mutating func removeAll() { count = 0 }

  /// Adds punctuation and names, as they are.
  package mutating func append(_ text: StaticString) {
    makeRoom(for: text.utf8CodeUnitCount)
    copy(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Adds a text as it is.
  package mutating func append(plain text: String) {
    var text = text
    text.withUTF8 {
      makeRoom(for: $0.count)
      copy($0)
    }
  }

  /// Adds a text as a JSON string, in quotes; `null` for none.
  ///
  /// Every control character is escaped, DEL and C1 as well, which JSON allows as they are: a terminal obeys them.
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

  /// Adds a duration in seconds, exact, with at least one digit after the point: `0.0`, `0.5`, `86400.0`.
  package mutating func append(seconds duration: Duration) {
    let (seconds, attoseconds) = duration.components
    makeRoom(for: 48)
    if seconds < 0 || attoseconds < 0 { put(UInt8(ascii: "-")) }
    put(seconds.magnitude, width: 1)
    put(UInt8(ascii: "."))
    var (fraction, width) = (attoseconds.magnitude, 18)
    // What clocks tell has nine digits.
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

  /// Puts a number's digits, with zeros before them where they are fewer.
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

  /// Puts a character up to U+00FF as its number: `\u001b`.
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

extension Duration {
  /// The duration in seconds, exact, with at least one digit after the point: `0.0`, `0.5`, `86400.0`.
  package var decimalSeconds: String {
    var json = JSONBytes()
    json.append(seconds: self)
    return json.text
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
