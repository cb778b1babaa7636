import Glibc
import PseudoTerminal
import Testing

/// A program that has nothing to do hardly runs.
@Suite(.serialized, .timeLimit(.minutes(1))) struct IdleTests {
  /// How often each of a process's threads has gone to sleep by itself.
  private func switches(of pid: Int32) throws -> Int {
    let tasks = try fileNames(in: "/proc/\(pid)/task")
    return try tasks.reduce(0) { sum, task in
      let status = try readFile("/proc/\(pid)/task/\(task)/status")
      let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
      return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
    }
  }

  /// Once a second the host's thread shows itself, and once a second libdispatch looks after its own.
  @Test func anIdleServiceWakesUpTwiceASecondAtMost() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      async let finished = runProgram(probe.arguments())
      try await probe.log.line(startingWith: "acquire end")
      let pid = try probe.pid()
      // What starting brought along is over after a second.
      _ = try await runProgram(["sleep", "1"])
      let before = try switches(of: pid)
      let began = ContinuousClock.now
      _ = try await runProgram(["sleep", "5"])
      let count = try switches(of: pid) - before
      let seconds = (ContinuousClock.now - began) / .seconds(1)
      print("idle: \(count) switches in \(seconds) s")
      #expect(Double(count) <= 2 * seconds + 4)
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
    }
  }
}
