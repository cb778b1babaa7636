import Glibc
import PseudoTerminal
import Synchronization
import TestTraits
import Testing

/// The daemon with a thousand clients that never pause.
@Suite(.serialized, .timeLimit(.hang)) struct ServiceLoadTests {
  private static let crowd = 1000

  /// A daemon that may have enough descriptors, and its crowd.
  private func withCrowd(
    environment: [String: String] = [:], body: @escaping @Sendable (ServiceDaemon, GreedyClients) async throws -> Void
  ) async throws -> FinishedProgram {
    try GreedyClients.allowSockets(Self.crowd)
    return try await withTemporaryDirectory { directory in
      try await withService(environment: environment, in: directory) { daemon in
        let crowd = try GreedyClients(Self.crowd, port: daemon.port)
        try crowd.takeGreetings()
        try await body(daemon, crowd)
      }
    }
  }

  /// Counts work, and not time.
  ///
  /// Of the crowd's lines fewer than half are answered before the polite client's, though it sent its line after all of them.
  /// The daemon stands still while the lines are sent and while they are counted.
  @Test func `A polite client is answered before a thousand greedy ones are`() async throws {
    let finished = try await withCrowd { daemon, crowd in
      let polite = try PoliteClient(port: daemon.port)
      var shares: [Double] = []
      for _ in 0..<5 {
        kill(daemon.pid, SIGSTOP)
        await ProcessTable.stopping(of: daemon.pid)
        let lines = await onThread { crowd.fill(limit: 32_768) }
        try polite.ask()
        kill(daemon.pid, SIGCONT)
        // The thread that has the answer stops the daemon: this task may have to wait for a thread.
        let answer = await onThread {
          defer { kill(daemon.pid, SIGSTOP) }
          return Result { try polite.answer() }
        }
        #expect(try answer.get() == "2")
        await ProcessTable.stopping(of: daemon.pid)
        shares.append(Double(lines - crowd.unanswered) / Double(lines))
        kill(daemon.pid, SIGCONT)
        // Each line is answered in the end, and no client is cut off.
        try await onThread { Result { try crowd.takeAnswers() } }.get()
        #expect(crowd.unanswered == 0)
      }
      print("Service: answered before the polite client: \(shares.map { ($0 * 1000).rounded() / 10 }) % of all lines")
      // Of five, the one in the middle: a test that is late to see the answer counts what was done meanwhile.
      #expect(shares.sorted()[2] < 0.5, "\(shares)")
      kill(daemon.pid, SIGTERM)
    }
    #expect(finished.ending == .exited(0), "\(finished.errors)")
  }

  /// The watchdog is fed, and SIGTERM drains: a line that has begun is the last one of its client.
  ///
  /// The budgets are real time: again if the daemon missed one on a machine that let a single answer wait for more than a second.
  @Test func `Under a flood it lives, answers, and ends within its time`() async throws {
    for _ in 0..<5 where try await livesUnderFlood() { return }
    Issue.record("the machine was too busy for the daemon's budgets, five times")
  }

  private func livesUnderFlood() async throws -> Bool {
    let longest = Mutex(Duration.zero)
    let finished = try await withCrowd(environment: ["WATCHDOG_USEC": "2000000"]) { daemon, crowd in
      startThread { crowd.flood() }
      try await daemon.manager.notice(with: "WATCHDOG")
      let polite = try PoliteClient(port: daemon.port)
      let times = try await onThread {
        Result {
          try (0..<50).map { _ in
            let began = ContinuousClock.now
            try polite.ask()
            guard try polite.answer() == "2" else { throw SystemError("answer", code: EPROTO) }
            return ContinuousClock.now - began
          }
        }
      }.get().sorted()
      print("Service: a polite client among \(Self.crowd) greedy ones waits \(times[25]), at most \(times[49])")
      longest.withLock { $0 = times[49] }
      // Far beyond the tenth of a second that it is to be, as this machine may be busy with other tests.
      #expect(times[25] < .seconds(2))
      try await daemon.manager.notice(with: "WATCHDOG")
      let began = ContinuousClock.now
      kill(daemon.pid, SIGTERM)
      try await daemon.manager.notice(with: "STOPPING")
      try await ProcessTable.ending(of: daemon.pid)
      print("Service: it drained within \(ContinuousClock.now - began)")
    }
    if finished.ending != .exited(0), longest.withLock({ $0 }) > .seconds(1) { return false }
    #expect(finished.ending == .exited(0), "\(finished.errors)")
    #expect(!finished.errors.contains("overran"))
    return true
  }

  /// With a short queue the system drops what does not fit, and clients try again after one second, three, seven.
  @Test func `A thousand clients that connect at once are all let in`() async throws {
    let most = try readFile("/proc/sys/net/core/somaxconn").split(separator: "\n").first.flatMap { Int($0) } ?? 0
    let count = min(Self.crowd, most)
    try GreedyClients.allowSockets(count)
    let finished = try await withTemporaryDirectory { directory in
      try await withService(in: directory) { daemon in
        // The daemon accepts nothing while they connect.
        kill(daemon.pid, SIGSTOP)
        await ProcessTable.stopping(of: daemon.pid)
        defer {
          kill(daemon.pid, SIGCONT)
          kill(daemon.pid, SIGTERM)
        }
        let crowd = try await onThread { Result { try GreedyClients(count, port: daemon.port) } }.get()
        kill(daemon.pid, SIGCONT)
        try await onThread { Result { try crowd.takeGreetings() } }.get()
      }
    }
    #expect(finished.ending == .exited(0), "\(finished.errors)")
  }
}
