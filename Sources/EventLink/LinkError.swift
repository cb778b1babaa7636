/// Why a link cannot be declared or does not run.
public enum LinkError: Error, Sendable, Hashable {
  /// The text is no topic that a broker takes, such as one with more than 200 slashes, has wildcards where events are sent, or is a
  /// subscription such as `$share/GROUP/TOPIC`.
  case notATopic(String)
  /// Two types of events are declared on one topic or filter.
  case twoTypes(topic: String)
  /// A topic is declared with two qualities.
  case twoQualities(topic: String)
  /// The link, or another open link of the bus, announces the life cycle on this topic already.
  case announcesAlready(as: String)
  /// The link is open already.
  case isOpen
  /// The link is not open.
  case isNotOpen
  /// The connection has ended.
  case connectionEnded(reason: String)
  /// The application has ended before the broker had taken these events; they are lost.
  case notSent(count: Int)
}

extension LinkError: CustomStringConvertible {
  /// The error as a sentence.
  public var description: String {
    switch self {
    case .notATopic(let text) where TopicFilter(text) != nil:
      "“\(text)” is a filter, from which events can only be received"
    case .notATopic(let text) where TopicFilter.isOrder(text):
      "“\(text)” begins with a word for the broker, which sends each event without it, and to one of several links only"
    case .notATopic(let text): "“\(text)” is no topic of MQTT"
    case .twoTypes(let topic): "two types of events are declared on “\(topic)”"
    case .twoQualities(let topic): "“\(topic)” is declared with two qualities"
    case .announcesAlready(let topic): "a link announces the life cycle as “\(topic)” already"
    case .isOpen: "the link is open already"
    case .isNotOpen: "the link is not open"
    case .connectionEnded(let reason): "the connection of the link has ended: \(reason)"
    case .notSent(let count): "the broker had not taken \(count) events when the application ended; they are lost"
    }
  }
}
