import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// The daemon, under a double of the service manager.
@Suite(.serialized, .timeLimit(.hang)) struct ServiceTests {
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

  // MARK: The journal

  @Test func `A run that SIGKILL ended is named by the next one, and one that SIGTERM ended is not`() async throws {
    try await withTemporaryDirectory { directory in
      let journal = directory.file("runs.jsonl")
      var killed: Int32 = 0
      var runs: [FinishedProgram] = []
      for signal in [SIGKILL, SIGTERM, SIGTERM] {
        let run = try await withTemporaryDirectory { own in
          try await withDaemon(["--journal", journal], in: own) { daemon in
            if signal == SIGKILL { killed = daemon.pid }
            kill(daemon.pid, signal)
          }
        }
        runs.append(run)
      }
      #expect(runs.map(\.ending) == [.killed(SIGKILL), .exited(0), .exited(0)])
      let notice = "previous run: killed in the background (process \(killed), last state background; last record "
      #expect(runs.map { $0.errors.contains(notice) } == [false, true, false])
      #expect(runs.map { $0.errors.contains("previous run") } == [false, true, false])

      let tool = try await runProgram([builtProduct("lifecycle"), "sessions", journal])
      #expect(tool.ending == .exited(0) && tool.errors == "")
      let rows = tool.output.split(separator: "\n").dropFirst()
      #expect(rows.map { $0.hasSuffix("  killed in the background") } == [true, false, false])
      #expect(rows.map { $0.hasSuffix("  terminated") } == [false, true, true])
    }
  }

  @Test func `A journal holds the whole run, and can be played again`() async throws {
    try await withTemporaryDirectory { directory in
      let journal = directory.file("runs.jsonl")
      _ = try await withDaemon(["--journal", journal], in: directory) { daemon in kill(daemon.pid, SIGTERM) }
      let log = try await runProgram([builtProduct("lifecycle"), "log", "--session", "last", "--json", journal])
      let replay = try await runProgram([builtProduct("lifecycle"), "simulate", "--replay", "-"], input: log.output)
      #expect(replay.ending == .exited(0), "\(replay.errors)")
      for name in ["applicationWillFinishLaunching", "applicationDidFinishLaunching", "applicationWillTerminate"] {
        #expect(log.output.contains(name) && replay.output.contains(name))
      }
    }
  }

  @Test func `A journal that another run writes is named, and the service goes on without`() async throws {
    try await withTemporaryDirectory { directory in
      let journal = directory.file("runs.jsonl")
      let first = try await withDaemon(["--journal", journal], in: directory) { first in
        try await withTemporaryDirectory { other in
          let second = try await withDaemon(["--journal", journal], in: other) { second in
            let client = try LineClient(port: second.port)
            #expect(try await client.line() == "hello")
            kill(second.pid, SIGTERM)
          }
          #expect(second.ending == .exited(0))
          let failure = "cannot lock \(journal): process \(first.pid) (Service) writes it; nothing is recorded"
          #expect(second.errors.contains(failure))
          #expect(!second.errors.contains("previous run"))
        }
        kill(first.pid, SIGTERM)
      }
      #expect(first.ending == .exited(0))
      #expect(!first.errors.contains("cannot"))
    }
  }

  @Test func `What a journal says of the run before is one line, whatever it is`() async throws {
    try await withTemporaryDirectory { directory in
      let run = #"{"journal":"run","version":1,"run":"a-1","part":0,"program":"Service","pid":1,"boot":"\u001b[2J\nz","#
      try directory.write(run + #""start":0.0,"t":0.0,"wall":0.0,"state":"background"}"# + "\n", to: "runs.jsonl")
      let finished = try await withDaemon(["--journal", directory.file("runs.jsonl")], in: directory) { daemon in
        kill(daemon.pid, SIGTERM)
      }
      let lines = finished.errors.split(separator: "\n")
      #expect(
        lines.first?.hasPrefix(
          #"previous run: the device restarted (process 1, last state background; boot \u{1B}[2J\nz, now "#) == true)
    }
  }

  @Test func `It links no Foundation, neither itself nor what it links`() async throws {
    let finished = try await runProgram(["ldd", builtProduct("Service")])
    try #require(finished.output.contains("libswiftCore"), "\(finished.errors)")
    #expect(!finished.output.contains("Foundation"))
  }
}
