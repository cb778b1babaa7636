import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// The daemon, under a double of the service manager.
@Suite(.serialized, .timeLimit(.hang)) struct ServiceTests {
  /// The daemon drains for four seconds: again if the machine takes longer to send the rest of the line.
  @Test func `It serves, drains what has begun, refuses what comes later, and ends with status 0`() async throws {
    for _ in 0..<5 where try await drainsInTime() { return }
    Issue.record("the machine was slower than the daemon's time to drain, five times")
  }

  private func drainsInTime() async throws -> Bool {
    try await withTemporaryDirectory { directory in
      var isInTime = true
      let finished = try await withService(in: directory) { daemon in
        let busy = try LineClient(port: daemon.port)
        let idle = try LineClient(port: daemon.port)
        #expect(try await busy.line() == "hello")
        #expect(try await idle.line() == "hello")
        try busy.send("one two  three\r\nfour five")
        #expect(try await busy.line() == "3")
        // On one thread, as a task may have to wait for one.
        let (pid, port) = (daemon.pid, daemon.port)
        isInTime = await onThread {
          let start = ContinuousClock.now
          kill(pid, SIGTERM)
          while (try? LineClient(port: port)) != nil, ContinuousClock.now - start < .seconds(3) { sched_yield() }
          try? busy.send(" six\nseven\n")
          return ContinuousClock.now - start < .seconds(3)
        }
        guard isInTime else { return }
        try await daemon.manager.notice(with: "STOPPING")
        try await idle.hasEnded()
        #expect(try await busy.line() == "3")
        try await busy.hasEnded()
        #expect(daemon.manager.lines.contains("STATUS=serving 2 connections"))
      }
      guard isInTime else { return false }
      #expect(finished.ending == .exited(0))
      #expect(!finished.errors.contains("overran"))
      return true
    }
  }

  @Test func `A client that never finishes its line is cut off within the budget`() async throws {
    try await withTemporaryDirectory { directory in
      let finished = try await withService(["--drain", "100"], in: directory) { daemon in
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

  /// A client that cannot be served yet waits, and costs nothing: the listening socket would be ready again and again.
  @Test(.longRunning) func `Clients for whom there is no descriptor wait until there is one`() async throws {
    try await withTemporaryDirectory { directory in
      let limited = ["sh", "-c", "ulimit -n 34; exec \"$@\"", "-"]
      let finished = try await withService(before: limited, in: directory) { daemon in
        var clients: [LineClient] = []
        for _ in 0..<6 { clients.append(try LineClient(port: daemon.port)) }
        while !(try await daemon.manager.notice(with: "STATUS").lines.contains { $0.hasSuffix(", and is full") }) {}
        let before = try processorTime(of: daemon.pid)
        _ = try await runProgram(["sleep", "3"])
        #expect(try processorTime(of: daemon.pid) - before < .milliseconds(300))
        while !clients.isEmpty { #expect(try await clients.removeFirst().line() == "hello") }
        kill(daemon.pid, SIGTERM)
      }
      #expect(finished.ending == .exited(0))
    }
  }

  /// Told to end while clients wait, it ends.
  @Test func `It ends while clients wait for a descriptor`() async throws {
    try await withTemporaryDirectory { directory in
      let limited = ["sh", "-c", "ulimit -n 34; exec \"$@\"", "-"]
      let finished = try await withService(["--drain", "100"], before: limited, in: directory) { daemon in
        var clients: [LineClient] = []
        for _ in 0..<6 { clients.append(try LineClient(port: daemon.port)) }
        while !(try await daemon.manager.notice(with: "STATUS").lines.contains { $0.hasSuffix(", and is full") }) {}
        kill(daemon.pid, SIGTERM)
        for client in clients { try await client.hasEnded() }
      }
      #expect(finished.ending == .exited(0))
    }
  }

  /// It is named at once, to the log and the manager; a service that only seems to be starting tells no one why.
  @Test func `A port that is taken is named, and taken over once it is free`() async throws {
    try await withTemporaryDirectory { directory in
      let manager = try ServiceManagerDouble(.abstract, in: directory)
      let second = try await withTemporaryDirectory { own in
        var second: Task<FinishedProgram, any Error>?
        let first = try await withService(in: own) { first in
          second = Task {
            try await runProgram(
              [builtProduct("Service"), "--port", "\(first.port)"], environment: ["NOTIFY_SOCKET": manager.address])
          }
          let text = "“server” cannot be acquired: port \(first.port): Address already in use; trying again in "
          let status = try await manager.notice(with: "STATUS")
          #expect(status.value("STATUS")?.hasPrefix(text) == true, "\(status)")
          #expect(!manager.lines.contains("READY=1"))
          kill(first.pid, SIGTERM)
        }
        #expect(first.ending == .exited(0) && !first.errors.contains("acquired"))
        kill(try await manager.notice(with: "READY").sender, SIGTERM)
        return try await second?.value
      }
      let finished = try #require(second)
      #expect(finished.ending == .exited(0))
      let lines = finished.errors.split(separator: "\n")
      #expect(
        lines.first?.hasPrefix("Service: “server” cannot be acquired: port ") == true, "\(finished.errors)")
      #expect(lines.contains { $0.hasPrefix("Service: “server” has been acquired after ") })
    }
  }

  private func processorTime(of pid: Int32) throws -> Duration {
    let fields = try readFile("/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ") ?? []
    // utime and stime of proc(5), the 14th and the 15th field; the name is the second.
    let ticks = fields.dropFirst(11).prefix(2).compactMap { Int($0) }
    try #require(ticks.count == 2)
    return .seconds(ticks[0] + ticks[1]) / sysconf(Int32(_SC_CLK_TCK))
  }

  @Test func `It reads its greeting again when it is told to reload`() async throws {
    try await withTemporaryDirectory { directory in
      try directory.write("good morning\n", to: "greeting")
      let finished = try await withService(["--greeting", directory.file("greeting")], in: directory) { daemon in
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

  /// Else what any code writes to standard error would be read as a signal, or sent to a client.
  @Test func `Where it is started without standard streams, nothing takes their place`() async throws {
    try await withTemporaryDirectory { directory in
      let closed = ["sh", "-c", "exec \"$@\" <&- >&- 2>&-", "-"]
      let finished = try await withService(before: closed, in: directory) { daemon in
        let client = try LineClient(port: daemon.port)
        #expect(try await client.line() == "hello")
        for number in 0...2 {
          var name = [CChar](repeating: 0, count: 256)
          let count = readlink("/proc/\(daemon.pid)/fd/\(number)", &name, name.count)
          let target = String(decoding: name.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
          #expect(target == "/dev/null", "\(number)")
        }
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
          try await withService(["--journal", journal], in: own) { daemon in
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

  /// The journal's handler, the host's and Swift's backtracer each have their turn.
  @Test(arguments: [SIGSEGV, SIGABRT, SIGTRAP], ["yes", "no"])
  func `A fatal signal ends it, is traced by Swift, and is a crash for the next run`(
    signal: Int32, backtrace: String
  ) async throws {
    try await withTemporaryDirectory { directory in
      let journal = directory.file("runs.jsonl")
      let crashed = try await withService(
        ["--journal", journal], environment: ["SWIFT_BACKTRACE": "enable=\(backtrace)"], in: directory
      ) { daemon in kill(daemon.pid, signal) }
      #expect(crashed.ending == .killed(signal))
      #expect(crashed.errors.contains("Program crashed") == (backtrace == "yes"), "\(crashed.errors)")
      let next = try await withTemporaryDirectory { own in
        try await withService(["--journal", journal], in: own) { daemon in kill(daemon.pid, SIGTERM) }
      }
      #expect(next.errors.contains("previous run: crashed"), "\(next.errors)")
    }
  }

  @Test func `A journal holds the whole run, and can be played again`() async throws {
    try await withTemporaryDirectory { directory in
      let journal = directory.file("runs.jsonl")
      _ = try await withService(["--journal", journal], in: directory) { daemon in kill(daemon.pid, SIGTERM) }
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
      let first = try await withService(["--journal", journal], in: directory) { first in
        try await withTemporaryDirectory { other in
          let second = try await withService(["--journal", journal], in: other) { second in
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

  @Test func `A file that is no journal is named and left as it is, and tells of no run`() async throws {
    try await withTemporaryDirectory { directory in
      try directory.write("not a journal\n", to: "notes.txt")
      let notes = directory.file("notes.txt")
      let finished = try await withService(["--journal", notes], in: directory) { daemon in kill(daemon.pid, SIGTERM) }
      #expect(finished.ending == .exited(0))
      #expect(finished.errors.contains("cannot recognize \(notes): "))
      #expect(!finished.errors.contains("previous run"))
      #expect(try readFile(notes) == "not a journal\n")
    }
  }

  @Test func `What a journal says of the run before is one line, whatever it is`() async throws {
    try await withTemporaryDirectory { directory in
      let run = #"{"journal":"run","version":1,"run":"a-1","part":0,"program":"Service","pid":1,"boot":"\u001b[2J\nz","#
      try directory.write(run + #""start":0.0,"t":0.0,"wall":0.0,"state":"background"}"# + "\n", to: "runs.jsonl")
      let finished = try await withService(["--journal", directory.file("runs.jsonl")], in: directory) { daemon in
        kill(daemon.pid, SIGTERM)
      }
      let lines = finished.errors.split(separator: "\n")
      #expect(
        lines.first?.hasPrefix(
          #"previous run: the device restarted (process 1, last state background; boot \u{1B}[2J\u{A}z, now "#) == true)
    }
  }

  @Test func `It links no Foundation, neither itself nor what it links`() async throws {
    let finished = try await runProgram(["ldd", builtProduct("Service")])
    try #require(finished.output.contains("libswiftCore"), "\(finished.errors)")
    #expect(!finished.output.contains("Foundation"))
  }
}
