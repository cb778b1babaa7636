import Scheduling

// As much of swift-log's `Logging` as the documentation's adapter uses, with the same names and types. Not the library: it
// collects what it is given, for tests to look at.

/// Collects messages.
package struct Logger: Sendable {
  package enum Level: String, Sendable { case trace, debug, info, notice, warning, error, critical }

  /// Text with values in it.
  package struct Message: ExpressibleByStringInterpolation, Sendable {
    let text: String
    package init(stringLiteral value: String) { text = value }
  }

  /// A value that goes with a message.
  package enum MetadataValue: ExpressibleByStringInterpolation, Sendable {
    case string(String)
    package init(stringLiteral value: String) { self = .string(value) }
  }

  private final class Collection: Sendable {
    let lines = Guarded<[String]>([])
  }

  private let collected = Collection()

  package init() {}

  /// What was logged: `level text key=value`.
  package var lines: [String] { collected.lines.withLock { $0 } }

  package func log(level: Level, _ message: Message, metadata: [String: MetadataValue]? = nil) {
    let pairs = (metadata ?? [:]).sorted { $0.key < $1.key }.map { key, value in
      switch value {
      case .string(let text): " \(key)=\(text)"
      }
    }
    collected.lines.withLock { $0.append("\(level.rawValue) \(message.text)\(pairs.joined())") }
  }

  package func info(_ message: Message, metadata: [String: MetadataValue]? = nil) {
    log(level: .info, message, metadata: metadata)
  }

  package func warning(_ message: Message, metadata: [String: MetadataValue]? = nil) {
    log(level: .warning, message, metadata: metadata)
  }
}
