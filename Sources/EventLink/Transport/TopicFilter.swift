/// A filter of topics, as brokers of MQTT have it: `+` stands for one level, `#` for all levels from there on.
struct TopicFilter: Sendable, Hashable {
  /// The bytes of each level: brokers compare bytes, where one character of Swift may be `#` and an accent.
  private let levels: [[UInt8]]
  private static let (any, all) = (Array("+".utf8), Array("#".utf8))

  /// Reads a filter; nil if it is none.
  init?(_ text: String) {
    guard Self.isUsable(text), !Self.isOrder(text) else { return nil }
    levels = Self.levels(of: text).map(Array.init)
    guard levels.count <= Self.mostLevels else { return nil }
    for (place, level) in levels.enumerated() {
      if level.contains(UInt8(ascii: "#")), level != Self.all || place + 1 < levels.count { return nil }
      if level.contains(UInt8(ascii: "+")), level != Self.any { return nil }
    }
  }

  private static func levels(of text: String) -> [Substring.UTF8View] {
    text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
  }

  /// Whether the filter names one topic.
  var isTopic: Bool { !levels.contains { $0 == Self.all || $0 == Self.any } }

  /// Whether a topic matches.
  ///
  /// Topics that begin with `$` are the broker's own, and match no wildcard at the beginning.
  func matches(_ topic: String) -> Bool {
    let parts = Self.levels(of: topic)
    if topic.utf8.first == UInt8(ascii: "$"), levels[0] == Self.all || levels[0] == Self.any { return false }
    for (place, level) in levels.enumerated() {
      if level == Self.all { return true }
      guard place < parts.count, level == Self.any || level.elementsEqual(parts[place]) else { return false }
    }
    return parts.count == levels.count
  }

  /// Whether the first level is an order to the broker, which sends each event without it, or to one of several links only.
  ///
  /// No event would match such a filter here.
  static func isOrder(_ text: String) -> Bool {
    ["$share/", "$queue/", "$exclusive/"].contains { text.utf8.starts(with: $0.utf8) }
  }

  /// The most bytes of a topic that a link takes; MQTT allows 65,535.
  static let longest = 512

  /// The most levels of a topic: mosquitto and its library take 200 slashes, and each attempt to send more would end the connection.
  private static let mostLevels = 201

  /// Whether a link takes a text as a topic or a filter: brokers may refuse control characters.
  private static func isUsable(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= longest
      && text.unicodeScalars.allSatisfy {
        $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) && !$0.properties.isNoncharacterCodePoint
      }
  }
}
