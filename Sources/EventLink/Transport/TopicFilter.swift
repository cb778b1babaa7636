/// A filter of topics, as brokers of MQTT have it: `+` stands for one level, `#` for all levels from there on.
struct TopicFilter: Sendable, Hashable {
  let text: String
  private let levels: [Substring]

  /// Reads a filter; nil if it is none.
  init?(_ text: String) {
    guard Self.isUsable(text), !Self.isOrder(text) else { return nil }
    levels = text.split(separator: "/", omittingEmptySubsequences: false)
    for (place, level) in levels.enumerated() {
      if level.contains("#"), level != "#" || place + 1 < levels.count { return nil }
      if level.contains("+"), level != "+" { return nil }
    }
    self.text = text
  }

  /// Whether the filter names one topic.
  var isTopic: Bool { !levels.contains { $0 == "#" || $0 == "+" } }

  /// Whether a topic matches.
  ///
  /// Topics that begin with `$` are the broker's own, and match no wildcard at the beginning.
  func matches(_ topic: String) -> Bool {
    let parts = topic.split(separator: "/", omittingEmptySubsequences: false)
    if topic.hasPrefix("$"), levels[0] == "#" || levels[0] == "+" { return false }
    for (place, level) in levels.enumerated() {
      if level == "#" { return true }
      guard place < parts.count, level == "+" || level == parts[place] else { return false }
    }
    return parts.count == levels.count
  }

  /// Whether the first level is an order to the broker, which sends each event without it, or to one of several links only.
  ///
  /// No event would match such a filter here.
  static func isOrder(_ text: String) -> Bool {
    ["$share/", "$queue/", "$exclusive/"].contains { text.hasPrefix($0) }
  }

  /// The most bytes of a topic that a link takes; MQTT allows 65,535.
  static let longest = 512

  /// Whether a link takes a text as a topic or a filter: brokers may refuse control characters.
  private static func isUsable(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= longest
      && text.unicodeScalars.allSatisfy {
        $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) && !$0.properties.isNoncharacterCodePoint
      }
  }
}
