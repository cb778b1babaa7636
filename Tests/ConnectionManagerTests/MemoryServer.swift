import ExampleSupport

@testable import ConnectionManager

/// A double of a server inside a simulated world: as much of Redis as ConnectionManager uses.
@MainActor final class MemoryServer {
  /// The system's answer to a connection that nothing listens for.
  struct Refused: Error, CustomStringConvertible {
    let description = "Connection refused"
  }

  private(set) var isUp = true
  /// What clients have sent, as `NUMBER: LINE`.
  private(set) var log: [String] = []
  /// Commands that are answered with an error.
  var refused: Set<String> = []
  /// The command at which the server ends the connection, once, instead of answering.
  var dropsAt: String?
  private var isStalled = false
  private var tellsOfKeys = false
  private var count = 0
  private var connections: [MemoryTransport] = []
  private var unanswered: [() -> Void] = []

  /// The connections that have been made and are still in memory.
  var connectionsInMemory: Int { made.count { $0.transport != nil } }
  private var made: [WeakTransport] = []

  /// The connections that are open at both ends.
  var openConnections: Int { connections.count }

  func connect() throws -> any Transport {
    guard isUp else { throw Refused() }
    count += 1
    let transport = MemoryTransport(number: count, server: self)
    connections.append(transport)
    made.append(WeakTransport(transport))
    return transport
  }

  func kill() {
    (isUp, isStalled, tellsOfKeys, unanswered) = (false, false, false, [])
    dropConnections()
  }

  func start() { isUp = true }

  func stall() { isStalled = true }

  func resume() {
    isStalled = false
    for answer in unanswered { answer() }
    unanswered = []
  }

  func dropConnections() {
    for connection in connections { connection.end() }
    connections = []
  }

  /// From now on no connection takes what is sent, though none has ended.
  func fill() { for connection in connections { connection.isFull = true } }

  func set(_ key: String) {
    guard tellsOfKeys else { return }
    for connection in connections where connection.isSubscribed {
      connection.deliver(
        "*4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$18\r\n__keyevent@0__:set\r\n$\(key.utf8.count)\r\n\(key)\r\n")
    }
  }

  fileprivate func take(_ line: String, from connection: MemoryTransport) {
    log.append("\(connection.number): \(line)")
    let word = String(line.prefix { $0 != " " })
    if word == dropsAt {
      dropsAt = nil
      return connection.end()
    }
    let answer =
      switch word {
      case _ where refused.contains(word): "-ERR refused\r\n"
      case "PING": "+PONG\r\n"
      case "CONFIG": "+OK\r\n"
      case "PSUBSCRIBE": "*3\r\n$10\r\npsubscribe\r\n$1\r\n*\r\n:1\r\n"
      case "PUNSUBSCRIBE": "*3\r\n$12\r\npunsubscribe\r\n$1\r\n*\r\n:0\r\n"
      default: "-ERR unknown command\r\n"
      }
    if word == "CONFIG" { tellsOfKeys = true }
    if word.hasSuffix("SUBSCRIBE") { connection.isSubscribed = word == "PSUBSCRIBE" }
    if isStalled {
      unanswered.append { connection.deliver(answer) }
    } else {
      connection.deliver(answer)
    }
  }

  fileprivate func didClose(_ connection: MemoryTransport) { connections.removeAll { $0 === connection } }
}

@MainActor private struct WeakTransport {
  weak var transport: MemoryTransport?

  init(_ transport: MemoryTransport) { self.transport = transport }
}

/// A connection to a ``MemoryServer``.
@MainActor private final class MemoryTransport: Transport {
  let number: Int
  var isFull = false
  var isSubscribed = false
  private weak var server: MemoryServer?
  private var bytes: [UInt8] = []
  private var hasEnded = false
  private var waiting: Answer<Void>?

  init(number: Int, server: MemoryServer) { (self.number, self.server) = (number, server) }

  func read() async throws -> [UInt8]? {
    try Task.checkCancellation()
    while bytes.isEmpty, !hasEnded {
      let answer = Answer<Void>()
      waiting = answer
      try await answer.value
    }
    defer { bytes = [] }
    return bytes.isEmpty ? nil : bytes
  }

  func send(_ line: String) -> Bool {
    guard !hasEnded, !isFull else { return false }
    server?.take(line, from: self)
    return true
  }

  func close() {
    end()
    server?.didClose(self)
  }

  func deliver(_ text: String) {
    bytes += Array(text.utf8)
    waiting?.give(.success(()))
  }

  func end() {
    hasEnded = true
    waiting?.give(.success(()))
  }
}
