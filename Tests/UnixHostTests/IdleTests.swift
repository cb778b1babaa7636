import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// A program that has nothing to do hardly runs.
@Suite(.serialized, .timeLimit(.hang)) struct IdleTests {
  /// How often the host's thread has gone to sleep by itself.
  private func switches(of pid: Int32) throws -> Int {
    let tasks = try fileNames(in: "/proc/\(pid)/task").map { "/proc/\(pid)/task/\($0)" }
    let host = try #require(try tasks.first { try readFile("\($0)/comm") == "lifecycle host\n" })
    let line = try readFile("\(host)/status").split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
    return try #require(line?.split(separator: "\t").last.flatMap { Int($0) })
  }

  /// Once a second the host's thread looks at the clocks; a bound on its own wake-ups holds on a busy machine, too.
  @Test func theHostOfAnIdleServiceWakesUpOnceASecondAtMost() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      async let finished = runProgram(probe.arguments())
      try await probe.log.line(startingWith: "acquire end")
      let pid = try probe.pid()
      let before = try switches(of: pid)
      let began = ContinuousClock.now
      _ = try await runProgram(["sleep", "5"])
      let count = try switches(of: pid) - before
      let seconds = (ContinuousClock.now - began) / .seconds(1)
      print("idle: the host's thread slept \(count) times in \(seconds) s")
      // What starting and the looking itself brought along is in it.
      #expect(Double(count) <= seconds + 4)
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
    }
  }
}
