import ExampleSupport

/// A connection to a server that answers each line in order, and may say more unasked.
///
/// It works while ``run()`` runs, and no longer.
@MainActor final class Client {
  /// What ends a connection, or keeps a command from being answered.
  enum Failure: Error, Hashable, CustomStringConvertible {
    case closedByServer
    case notSent
    case refused(String, by: String)

    var description: String {
      switch self {
      case .closedByServer: "closed by the server"
      case .notSent: "the server takes nothing"
      case .refused(let reason, let command): "\(command): \(reason)"
      }
    }
  }

  private let transport: any Transport
  private let onFailure: @Sendable (any Error) -> Void
  private var parser = ReplyParser()
  /// The commands that have not been answered, oldest first; one whose asker has gone keeps its place.
  private var questions: [Answer<Reply>] = []
  /// Why nothing can be asked any more.
  private var end: (any Error)?
  /// Receives what the server says unasked.
  var onPush: (@MainActor (Reply) -> Void)?

  /// A client of a server.
  ///
  /// - Parameters:
  ///   - transport: the connection; the client closes it.
  ///   - onFailure: is called when a write shows that the connection has broken.
  init(_ transport: any Transport, onFailure: @escaping @Sendable (any Error) -> Void = { _ in }) {
    (self.transport, self.onFailure) = (transport, onFailure)
  }

  /// Takes what the server says, until the connection ends or the task is cancelled.
  ///
  /// - Throws: why it ended.
  func run() async throws {
    do {
      while let bytes = try await transport.read() {
        for reply in try parser.append(bytes) { take(reply) }
      }
      throw Failure.closedByServer
    } catch {
      end = error
      for question in questions { question.give(.failure(error)) }
      questions = []
      throw error
    }
  }

  private func take(_ reply: Reply) {
    if reply.isPush || questions.isEmpty {
      onPush?(reply)
    } else {
      questions.removeFirst().give(.success(reply))
    }
  }

  /// Sends a command and returns the answer.
  ///
  /// - Throws: ``Failure/refused(_:by:)`` for an answer that is an error, or why there is none.
  @discardableResult func ask(_ command: String) async throws -> Reply {
    let question = Answer<Reply>()
    try send(command)
    questions.append(question)
    let reply = try await question.value
    if case .error(let reason) = reply { throw Failure.refused(reason, by: command) }
    return reply
  }

  /// Sends a command whose answer is a push, or does not matter.
  func tell(_ command: String) { try? send(command) }

  private func send(_ command: String) throws {
    if let end { throw end }
    guard transport.send(command) else {
      onFailure(Failure.notSent)
      throw Failure.notSent
    }
  }

  func close() { transport.close() }
}
