import ExampleSupport

/// A connection to a server that answers each line in order, and may send pushes.
///
/// It works while ``run()`` runs, and no longer.
@MainActor final class Client {
  /// An error that ends a connection or replaces an answer.
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
  /// The commands that have not been answered, oldest first.
  ///
  /// A command whose task was cancelled keeps its place.
  private var questions: [Answer<Reply>] = []
  /// The reason for which no command can be sent any more.
  private var end: (any Error)?
  /// Receives the server's pushes.
  var onPush: (@MainActor (Reply) -> Void)?

  /// A client of a server.
  ///
  /// - Parameters:
  ///   - transport: the connection; the client closes it.
  ///   - onFailure: called when a write shows that the connection has broken.
  init(_ transport: any Transport, onFailure: @escaping @Sendable (any Error) -> Void = { _ in }) {
    (self.transport, self.onFailure) = (transport, onFailure)
  }

  /// Reads the server's messages until the connection ends or the task is cancelled.
  ///
  /// - Throws: the reason for which the connection ended.
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
  /// - Throws: ``Failure/refused(_:by:)`` if the answer is an error; another error if there is no answer.
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
