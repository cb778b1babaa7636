import PseudoTerminal

/// As much of Redis as ConnectionManager uses, in the test's own process, with a log of what it was sent.
final class RedisDouble: MonitoredServer {
  private struct State: Sendable {
    var server: LineServer?
    var service: Task<Void, Never>?
    var settings = Settings()
    var isStalled = false
    var unanswered: [@Sendable () -> Void] = []
    /// What clients have sent, as `NUMBER: LINE`.
    var log: [String] = []
    var taken = 0
  }

  /// What a real server forgets at its end.
  private struct Settings: Sendable {
    var tellsOfKeys = false
    var subscribers: [LineServer.Connection] = []
  }

  private let reserved: ReservedPort
  private let state = Monitor(State()) { $0.log.joined(separator: "\n") }

  var port: UInt16 { reserved.port }

  init() throws { reserved = try ReservedPort() }

  func start() async throws {
    let server = try LineServer(port: port)
    state.update { state in
      state.server = server
      state.service = Task { await self.serve(server) }
    }
  }

  func kill() async throws {
    let (server, service) = state.update { state in
      defer {
        (state.server, state.service) = (nil, nil)
        (state.settings, state.unanswered, state.isStalled) = (Settings(), [], false)
      }
      return (state.server, state.service)
    }
    service?.cancel()
    await server?.stop()
    await service?.value
  }

  func stall() async { state.update { $0.isStalled = true } }

  func resume() async {
    state.update {
      $0.isStalled = false
      for answer in $0.unanswered { answer() }
      $0.unanswered = []
    }
  }

  func set(_ key: String) async throws {
    state.update { state in
      guard state.settings.tellsOfKeys else { return }
      for subscriber in state.settings.subscribers {
        subscriber.send(Self.array(["pmessage", "__keyevent@*__:*", "__keyevent@0__:set", key]))
      }
    }
  }

  /// Breaks every connection; the server goes on.
  func dropConnections() {
    state.update { state in
      for subscriber in state.settings.subscribers { subscriber.close() }
      state.settings.subscribers = []
    }
  }

  /// Waits for the next line that a client sends and that begins with `prefix`; the lines before it count as taken.
  @discardableResult func line(_ prefix: String) async throws -> String {
    try await state.wait(for: "a line “\(prefix)”", within: .seconds(240)) { state in
      guard
        let index = state.log[state.taken...].firstIndex(where: { $0.drop { $0 != " " }.dropFirst().hasPrefix(prefix) })
      else { return nil }
      state.taken = index + 1
      return state.log[index]
    }
  }

  /// What clients have sent so far, as `NUMBER: LINE`.
  var log: [String] { state.state.log }

  private func serve(_ server: LineServer) async {
    await withDiscardingTaskGroup { clients in
      // The deadline bounds nothing here: the task is cancelled when the server ends.
      while let connection = try? await server.nextConnection(within: .seconds(86_400)) {
        clients.addTask {
          while let line = try? await connection.nextLine(within: .seconds(86_400)) { self.take(line, connection) }
        }
      }
      clients.cancelAll()
    }
  }

  private func take(_ line: String, _ connection: LineServer.Connection) {
    state.update { state in
      state.log.append("\(connection.number): \(line)")
      if state.isStalled {
        state.unanswered.append { connection.send(Self.answer(line)) }
      } else {
        connection.send(Self.answer(line))
      }
      let words = line.split(separator: " ")
      switch words.first {
      case "CONFIG": state.settings.tellsOfKeys = true
      case "PSUBSCRIBE": state.settings.subscribers.append(connection)
      case "PUNSUBSCRIBE": state.settings.subscribers.removeAll { $0.number == connection.number }
      default: break
      }
    }
  }

  private static func answer(_ line: String) -> String {
    let words = line.split(separator: " ").map(String.init)
    return switch words.first {
    case "PING": "+PONG\r"
    case "CONFIG": "+OK\r"
    case "PSUBSCRIBE": array([words[0].lowercased(), words.count > 1 ? words[1] : "", "1"])
    case "PUNSUBSCRIBE": array([words[0].lowercased(), "", "0"])
    default: "-ERR unknown command\r"
    }
  }

  /// An array of texts in Redis's protocol, without the end of its last line.
  private static func array(_ texts: [String]) -> String {
    "*\(texts.count)\r\n" + texts.map { "$\($0.utf8.count)\r\n\($0)\r" }.joined(separator: "\n")
  }
}
