import PseudoTerminal
import Testing

/// A server that a test of ConnectionManager breaks and mends: Redis, or a double of it.
protocol MonitoredServer: Sendable {
  /// The port of 127.0.0.1 on which it listens while it runs.
  var port: UInt16 { get }
  /// Starts it, without any of the settings that it had; returns when it listens.
  func start() async throws
  /// Ends it without a word.
  func kill() async throws
  /// From now on it accepts connections and answers nothing.
  func stall() async
  /// Takes ``stall()`` back.
  func resume() async
  /// Has it tell its subscribers `__keyevent@0__:set KEY`, if it was configured to.
  func set(_ key: String) async throws
}

/// Which server a test runs against.
enum ServerKind: CaseIterable, Sendable, CustomTestStringConvertible {
  case double, redis

  var testDescription: String { self == .double ? "a double" : "redis-server" }

  /// Runs `body` with a server that listens, and ends it afterwards; skips the test where Redis is not installed.
  func run(_ body: (any MonitoredServer) async throws -> Void) async throws {
    if self == .redis { try requireProgram("redis-server") }
    try await withTemporaryDirectory { directory in
      let server: any MonitoredServer = self == .double ? try RedisDouble() : try RealRedis(in: directory)
      try await server.start()
      try await running {
        try await body(server)
      } finally: {
        try await server.kill()
      }
    }
  }
}
