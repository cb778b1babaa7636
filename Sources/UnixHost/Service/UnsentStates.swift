/// The messages about states for which the service manager had no room, oldest first.
///
/// They are sent in order: a manager that gets READY without the RELOADING before it waits for a reload that is over.
struct UnsentStates: Sendable, Hashable {
  /// The limit for a manager that never reads; older messages are dropped.
  static let limit = 4

  private var messages: [String] = []

  var isEmpty: Bool { messages.isEmpty }

  mutating func append(_ message: String) { messages = (messages + [message]).suffix(Self.limit) }

  /// Sends the messages, up to the first for which there still is no room.
  ///
  /// - Parameter send: a closure that sends a message, and returns false if the manager has no room for it.
  mutating func retry(_ send: (String) -> Bool) {
    while let oldest = messages.first, send(oldest) { messages.removeFirst() }
  }
}
