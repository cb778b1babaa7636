/// A JSON value in a line of a journal.
enum JSONValue: Hashable {
  case null
  case bool(Bool)
  case string(String)
  /// A number as text.
  case number(String)
  /// An array or an object. The format has none; readers skip them.
  case nested
}

/// One JSON object (RFC 8259) from bytes that may hold anything.
///
/// The parser reads each byte once, and nothing beyond the last one. Nested values do not use the call stack.
struct JSONObject {
  private(set) var fields: [(key: String, value: JSONValue)] = []

  /// Parses all bytes as one object; nil if they are not one.
  init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    var scanner = JSONScanner(bytes: bytes)
    guard scanner.take("{") else { return nil }
    fields.reserveCapacity(8)
    if !scanner.take("}") {
      repeat {
        guard scanner.skipSpace(), let key = scanner.string(), scanner.take(":"), let value = scanner.value() else {
          return nil
        }
        fields.append((key, value))
      } while scanner.take(",")
      guard scanner.take("}") else { return nil }
    }
    guard scanner.isAtEnd else { return nil }
  }

  /// The last value of a key, as in most JSON parsers.
  subscript(_ key: String) -> JSONValue? { fields.last { $0.key == key }?.value }

  /// Returns a text; nil if it is missing or of another type.
  func string(_ key: String) -> String? { if case .string(let text) = self[key] { text } else { nil } }

  /// Returns `.some(text)`, or `.some(nil)` for `null` or a missing field; nil if the value is of another type.
  func optionalString(_ key: String) -> String?? {
    switch self[key] {
    case .string(let text): .some(text)
    case .null, nil: .some(nil)
    default: nil
    }
  }

  /// Returns a whole number; nil if it is missing or of another type.
  func integer(_ key: String) -> Int64? { if case .number(let digits) = self[key] { Int64(digits) } else { nil } }

  /// Returns a number of seconds; nil if it is missing, of another type, or too large.
  func duration(_ key: String) -> Duration? {
    if case .number(let digits) = self[key] { Duration(decimalSeconds: digits) } else { nil }
  }
}

extension Duration {
  /// Makes the duration of a JSON number of seconds, exact to an attosecond.
  ///
  /// A number with an exponent, which this format never writes, is as exact as a floating-point number.
  init?(decimalSeconds text: String) {
    let isNegative = text.hasPrefix("-")
    let parts = text.dropFirst(isNegative ? 1 : 0).split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first else { return nil }
    if text.utf8.contains(where: { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }) {
      guard let seconds = Double(text), seconds.magnitude < 9.0e9 else { return nil }
      self = .seconds(seconds)
      return
    }
    // Allow half of a duration's range, so that the sum of two does not overflow.
    guard let seconds = Int64(first), seconds < 1 << 62 else { return nil }
    var attoseconds: Int64 = 0
    if parts.count == 2 {
      let digits = parts[1].prefix(18)
      guard let value = Int64(digits) else { return nil }
      attoseconds = (digits.utf8.count..<18).reduce(value) { value, _ in value * 10 }
    }
    self.init(
      secondsComponent: isNegative ? -seconds : seconds, attosecondsComponent: isNegative ? -attoseconds : attoseconds)
  }
}
