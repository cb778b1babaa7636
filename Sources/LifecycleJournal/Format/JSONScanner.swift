/// A scanner of JSON tokens in bytes, which never reads beyond their end.
struct JSONScanner {
  let bytes: UnsafeBufferPointer<UInt8>
  private(set) var index = 0

  init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

  /// Whether only white space is left.
  var isAtEnd: Bool {
    mutating get {
      skipSpace()
      return index == bytes.count
    }
  }

  /// Skips white space; returns true, for use in a chain of conditions.
  @discardableResult
  mutating func skipSpace() -> Bool {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A { index += 1 }
    return true
  }

  /// Takes a punctuation mark, and white space before it; returns false if the next token is another one.
  mutating func take(_ mark: Unicode.Scalar) -> Bool {
    skipSpace()
    guard next == UInt8(ascii: mark) else { return false }
    index += 1
    return true
  }

  /// Takes any value; returns nil if there is none.
  mutating func value() -> JSONValue? {
    skipSpace()
    switch next {
    case UInt8(ascii: "\""): return string().map { .string($0) }
    case UInt8(ascii: "{"), UInt8(ascii: "["): return skipNested() ? .nested : nil
    case UInt8(ascii: "t"): return takeWord("true") ? .bool(true) : nil
    case UInt8(ascii: "f"): return takeWord("false") ? .bool(false) : nil
    case UInt8(ascii: "n"): return takeWord("null") ? .null : nil
    default: return number().map { .number($0) }
    }
  }

  private mutating func takeWord(_ word: StaticString) -> Bool {
    let end = index + word.utf8CodeUnitCount
    guard end <= bytes.count else { return false }
    for place in index..<end where bytes[place] != word.utf8Start[place - index] { return false }
    index = end
    return true
  }

  private mutating func skipDigits() -> Int {
    let start = index
    while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { index += 1 }
    return index - start
  }

  private mutating func number() -> String? {
    let start = index
    if next == UInt8(ascii: "-") { index += 1 }
    let startsWithZero = next == UInt8(ascii: "0")
    let whole = skipDigits()
    guard whole > 0, whole == 1 || !startsWithZero else { return nil }
    if next == UInt8(ascii: ".") {
      index += 1
      guard skipDigits() > 0 else { return nil }
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      index += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { index += 1 }
      guard skipDigits() > 0 else { return nil }
    }
    return String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<index]), as: UTF8.self)
  }

  // MARK: Texts

  /// Takes a text in quotes; returns nil if there is none, or if it is not valid Unicode.
  mutating func string() -> String? {
    guard next == UInt8(ascii: "\"") else { return nil }
    index += 1
    let start = index
    while let byte = next, byte >= 0x20, byte != UInt8(ascii: "\\") {
      index += 1
      guard byte == UInt8(ascii: "\"") else { continue }
      return String(validating: UnsafeBufferPointer(rebasing: bytes[start..<(index - 1)]), as: UTF8.self)
    }
    guard next == UInt8(ascii: "\\") else { return nil }
    return escapedString(Array(bytes[start..<index]))
  }

  /// Takes the rest of a text, from its first escape on.
  private mutating func escapedString(_ beginning: [UInt8]) -> String? {
    var text = beginning
    while let byte = next, byte >= 0x20 {
      index += 1
      switch byte {
      case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
      case UInt8(ascii: "\\"): guard takeEscape(into: &text) else { return nil }
      default: text.append(byte)
      }
    }
    return nil
  }

  private mutating func takeEscape(into text: inout [UInt8]) -> Bool {
    guard let letter = next else { return false }
    index += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"):
      guard let scalar = escapedScalar() else { return false }
      text.append(contentsOf: String(Character(scalar)).utf8)
    default: return false
    }
    return true
  }

  /// Takes the character after `\u`; returns nil for half of a surrogate pair.
  private mutating func escapedScalar() -> Unicode.Scalar? {
    guard let first = fourDigits() else { return nil }
    guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
    guard takeWord("\\u"), let second = fourDigits(), UTF16.isTrailSurrogate(second) else { return nil }
    return Unicode.Scalar(0x10000 + (UInt32(first - 0xD800) << 10) + UInt32(second - 0xDC00))
  }

  private mutating func fourDigits() -> UInt16? {
    guard index + 4 <= bytes.count else { return nil }
    var value: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = Character(Unicode.Scalar(bytes[index])).hexDigitValue, bytes[index] < 0x80 else { return nil }
      value = value << 4 | UInt16(digit)
      index += 1
    }
    return value
  }

  // MARK: Values outside the format

  /// Skips an array or an object, without recursion.
  ///
  /// It checks that the tokens are valid and that brackets are balanced, but not the order of tokens, because no reader
  /// uses the contents.
  private mutating func skipNested() -> Bool {
    var closers: [UInt8] = []
    repeat {
      skipSpace()
      switch next {
      case UInt8(ascii: "{"):
        closers.append(UInt8(ascii: "}"))
        index += 1
      case UInt8(ascii: "["):
        closers.append(UInt8(ascii: "]"))
        index += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard closers.popLast() == next else { return false }
        index += 1
      case UInt8(ascii: ","), UInt8(ascii: ":"): index += 1
      case nil: return false
      default: guard value() != nil else { return false }
      }
    } while !closers.isEmpty
    return true
  }
}
