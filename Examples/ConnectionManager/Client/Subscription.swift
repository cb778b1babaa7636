import ExampleSupport

/// The pushes of a server, from the command that subscribes to the one that unsubscribes.
@MainActor final class Subscription {
  /// How many messages are kept while nothing takes them; beyond that the oldest are dropped.
  static let limit = 1000

  private let client: Client
  private let command: String
  private var messages: [String] = []
  private var waiting: Answer<Void>?

  private init(_ client: Client, _ command: String) { (self.client, self.command) = (client, command) }

  /// Subscribes, and returns when the server has confirmed that.
  static func begin(_ command: String, on client: Client) async throws -> Subscription {
    let subscription = Subscription(client, command)
    client.onPush = { [weak subscription] in subscription?.take($0) }
    try await client.ask(command)
    return subscription
  }

  /// Waits for the next message and returns it.
  ///
  /// - Throws: `CancellationError` if the task is cancelled meanwhile.
  func next() async throws -> String {
    while messages.isEmpty {
      let answer = Answer<Void>()
      waiting = answer
      try await answer.value
    }
    return messages.removeFirst()
  }

  private func take(_ push: Reply) {
    guard let message = push.message else { return }
    messages = messages.suffix(Self.limit - 1) + [message]
    waiting?.give(.success(()))
  }

  /// Unsubscribes without waiting, so that a server that does not answer delays no tear-down.
  func end() {
    client.onPush = nil
    if let command = Self.opposite(of: command) { client.tell(command) }
  }

  /// The command that unsubscribes: `PUNSUBSCRIBE` for `PSUBSCRIBE …`; nil if there is none.
  static func opposite(of command: String) -> String? {
    let word = command.prefix { $0 != " " }.uppercased()
    guard word.hasSuffix("SUBSCRIBE"), !word.hasSuffix("UNSUBSCRIBE") else { return nil }
    return word.replacing("SUBSCRIBE", with: "UNSUBSCRIBE")
  }
}
