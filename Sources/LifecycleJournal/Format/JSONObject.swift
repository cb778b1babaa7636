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
  /// A field, with the offset of its value from the beginning of the object.
  struct Field {
    let key: String
    let value: JSONValue
    let offset: Int
  }

  private(set) var fields: [Field] = []

  /// Parses all bytes as one object; nil if they are not one.
  init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    var scanner = JSONScanner(bytes: bytes)
    guard scanner.take("{") else { return nil }
    fields.reserveCapacity(8)
    if !scanner.take("}") {
      repeat {
        guard scanner.skipSpace(), let key = scanner.string(), scanner.take(":"), scanner.skipSpace() else {
          return nil
        }
        let offset = scanner.index
        guard let value = scanner.value() else { return nil }
        fields.append(Field(key: key, value: value, offset: offset))
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
}
