import Glibc
import PseudoTerminal
import Testing

/// The daemon, under a double of the service manager.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ServiceTests {
  /// A daemon that is ready.
  private struct Daemon {
    let manager: ServiceManagerDouble
    let pid: Int32
    let port: UInt16
  }

  private func withDaemon(
    _ options: [String] = [], in directory: TemporaryDirectory, body: (Daemon) async throws -> Void
  ) async throws -> FinishedProgram {
    let manager = try ServiceManagerDouble(.path, in: directory)
    let reserved = try ReservedPort()
    let port = reserved.port
    async let finished = runProgram(
      [builtProduct("Service"), "--port", "\(port)"] + options, environment: ["NOTIFY_SOCKET": manager.address])
    let ready = try await manager.notice(with: "READY")
    try await body(Daemon(manager: manager, pid: ready.sender, port: port))
    return try await finished
  }

  @Test func `It serves, drains what has begun, refuses what comes later, and ends with status 0`() async throws {
    try await withTemporaryDirectory { directory in
      let finished = try await withDaemon(in: directory) { daemon in
        let busy = try LineClient(port: daemon.port)
        let idle = try LineClient(port: daemon.port)
        #expect(try await busy.line() == "hello")
        #expect(try await idle.line() == "hello")
        try busy.send("one two  three\r\nfour five")
        #expect(try await busy.line() == "3")
        kill(daemon.pid, SIGTERM)
        try await daemon.manager.notice(with: "STOPPING")
        try await idle.hasEnded()
        #expect(throws: SystemError.self) { try LineClient(port: daemon.port) }
        try busy.send(" six\nseven\n")
        #expect(try await busy.line() == "3")
        try await busy.hasEnded()
        #expect(daemon.manager.lines.contains("STATUS=serving 2 connections"))
      }
      #expect(finished.ending == .exited(0))
      #expect(!finished.errors.contains("overran"))
    }
  }

  @Test func `A client that never finishes its line is cut off within the budget`() async throws {
    try await withTemporaryDirectory { directory in
      let finished = try await withDaemon(["--drain", "100"], in: directory) { daemon in
        let client = try LineClient(port: daemon.port)
        #expect(try await client.line() == "hello")
        try client.send("1\n2")
        #expect(try await client.line() == "1")
        kill(daemon.pid, SIGTERM)
        try await client.hasEnded()
      }
      #expect(finished.ending == .exited(0))
    }
  }

  @Test func `It reads its greeting again when it is told to reload`() async throws {
    try await withTemporaryDirectory { directory in
      try directory.write("good morning\n", to: "greeting")
      let finished = try await withDaemon(["--greeting", directory.file("greeting")], in: directory) { daemon in
        let early = try LineClient(port: daemon.port)
        #expect(try await early.line() == "good morning")
        try directory.write("good evening\n", to: "greeting")
        kill(daemon.pid, SIGHUP)
        try await daemon.manager.notice(with: "RELOADING")
        try await daemon.manager.notice(with: "READY")
        let late = try LineClient(port: daemon.port)
        #expect(try await late.line() == "good evening")
        kill(daemon.pid, SIGTERM)
      }
      #expect(finished.ending == .exited(0))
    }
  }
}
