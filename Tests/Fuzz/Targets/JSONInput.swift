import JSONReading

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Any bytes, decoded as the JSON of an event or of a saved value.
enum JSONInput {
  static func run(_ bytes: [UInt8]) { _ = try? Data(bytes).decodedJSON(as: Value.self) }

  /// A value of any shape, whose parts are all decoded.
  private struct Value: Decodable {
    init(from decoder: any Decoder) throws {
      if let members = try? decoder.container(keyedBy: Key.self) {
        for key in members.allKeys { _ = try members.decode(Value.self, forKey: key) }
      } else if var elements = try? decoder.unkeyedContainer() {
        while !elements.isAtEnd { _ = try elements.decode(Value.self) }
      } else {
        let single = try decoder.singleValueContainer()
        let types: [any Decodable.Type] = [String.self, Double.self, Decimal.self, Int.self, UInt8.self, Bool.self]
        for type in types { _ = try? single.decode(type) }
      }
    }
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}
