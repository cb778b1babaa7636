/// One message of a server: a line, or several lines that Redis's protocol combines.
indirect enum Reply: Hashable, Sendable {
  /// A line, a number, or a text of any length.
  case text(String)
  /// A line that begins with `-`: the server could not carry out the command.
  case error(String)
  case array([Reply])

  /// Whether this is a push: a message that answers no command.
  var isPush: Bool {
    switch self {
    case .array(let elements):
      guard case .text(let kind)? = elements.first else { return false }
      return Self.pushes.contains(kind.lowercased())
    // A line of MONITOR begins with a time and a client: `1339518083.107412 [0 127.0.0.1:60866] "get" "x"`.
    case .text(let text): return text.contains(" [") && text.prefix { $0 != " " }.wholeMatch(of: /\d+\.\d+/) != nil
    case .error: return false
    }
  }

  private static let pushes: Set = ["message", "pmessage", "smessage", "unsubscribe", "punsubscribe", "sunsubscribe"]

  /// The text of a push; nil for one that only ends a subscription.
  var message: String? {
    guard case .array(let elements) = self else { return "\(self)" }
    let words = elements.map { "\($0)" }
    switch words.first?.lowercased() {
    case "message", "smessage": return words.dropFirst().joined(separator: " ")
    // The pattern is left out, as the channel matches it.
    case "pmessage": return words.dropFirst(2).joined(separator: " ")
    case "unsubscribe", "punsubscribe", "sunsubscribe": return nil
    default: return words.joined(separator: " ")
    }
  }
}

extension Reply: CustomStringConvertible {
  var description: String {
    switch self {
    case .text(let text), .error(let text): text
    case .array(let elements): elements.map(\.description).joined(separator: " ")
    }
  }
}
