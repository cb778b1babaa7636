// With the part of Foundation that has the coders.
#if canImport(FoundationEssentials)
  @_exported public import FoundationEssentials
#else
  @_exported public import Foundation
#endif

import LibC

extension Data {
  /// Decodes a value from JSON that may be damaged.
  ///
  /// Foundation's decoder traps where JSON ends with the bracket that nests one level more than it allows (512 levels), as it
  /// looks for that place behind the end. If a carriage return is the last byte behind the bracket, it looks for a line feed there.
  /// No complete value ends with an opening bracket, so such bytes do not reach it.
  /// The decoder also reads UTF-16 and UTF-32, where another byte may follow the bracket's. There each bracket has a NUL byte,
  /// and JSON in UTF-8 has none.
  package func decodedJSON<Value: Decodable>(as type: Value.Type) throws -> Value {
    func damage(_ what: String) -> DecodingError {
      .dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: what))
    }
    // Many times as fast as `contains(0)`, which would take longer than the decoder.
    let hasNUL = withUnsafeBytes { bytes in
      bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
    }
    if hasNUL { throw damage("the JSON has a NUL byte") }
    let end = last == UInt8(ascii: "\r") ? dropLast().last : last
    if end == UInt8(ascii: "[") || end == UInt8(ascii: "{") {
      throw damage("the JSON ends with an opening bracket")
    }
    return try JSONDecoder().decode(type, from: self)
  }
}

extension Encodable {
  /// Encodes the value as JSON that `decodedJSON(as:)` takes.
  ///
  /// The same value has the same bytes, so that an unchanged one is not written again.
  package func encodedJSON() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let json = try encoder.encode(self)
    // Foundation throws for `Double.nan`, and writes `Decimal.nan` as a word that its decoder refuses. A text may have that word.
    if json.hasNaN, (try? json.decodedJSON(as: AnyJSON.self)) == nil {
      throw EncodingError.invalidValue(
        self, EncodingError.Context(codingPath: [], debugDescription: "Unable to encode Decimal.nan in JSON."))
    }
    return json
  }
}

extension Data {
  /// Whether the word is among the bytes.
  ///
  /// They are not copied for that: events are sent often, and saved values are large.
  fileprivate var hasNaN: Bool {
    withUnsafeBytes { bytes in
      var rest = bytes
      while let base = rest.baseAddress, let found = memchr(base, Int32(UInt8(ascii: "N")), rest.count) {
        rest = UnsafeRawBufferPointer(rebasing: rest[(UnsafeRawPointer(found) - base)...])
        if rest.starts(with: "NaN".utf8) { return true }
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst())
      }
      return false
    }
  }
}

/// Any value, of which nothing is kept.
private struct AnyJSON: Decodable { init(from decoder: any Decoder) {} }
