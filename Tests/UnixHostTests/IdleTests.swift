import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// A program that has nothing to do hardly runs.
@Suite(.serialized, .timeLimit(.hang)) struct IdleTests {
  /// How often the host's thread has gone to sleep by itself.
  private func switches(of pid: Int32) throws -> Int {
    let tasks = try fileNames(in: "/proc/\(pid)/task").map { "/proc/\(pid)/task/\($0)" }
    return try switches(ofTask: try #require(try tasks.first { try readFile("\($0)/comm") == "lifecycle host\n" }))
  }

  /// How often a thread has gone to sleep by itself.
  private func switches(ofTask task: String) throws -> Int {
    let line = try readFile("\(task)/status").split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
    return try #require(line?.split(separator: "\t").last.flatMap { Int($0) })
  }

  /// How long a thread has run, in nanoseconds.
  private func processorTime(ofTask task: String) throws -> Int {
    try #require(try readFile("\(task)/schedstat").split(separator: " ").first.flatMap { Int($0) })
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

  /// Neither loop turns while there is no work: a loop that does runs all the time, or sleeps often.
  @Test(arguments: ProbeLoop.allCases) func theFirstThreadOfAnIdleServiceSleeps(loop: ProbeLoop) async throws {
    try await ProbeSession.run("ServiceProbe", on: loop) { probe in
      async let finished = runProgram(probe.arguments())
      try await probe.log.line(startingWith: "acquire end")
      let pid = try probe.pid()
      let thread = "/proc/\(pid)/task/\(pid)"
      // The end of the launch is not idle yet.
      _ = try await runProgram(["sleep", "0.5"])
      let before = (switches: try switches(ofTask: thread), time: try processorTime(ofTask: thread))
      _ = try await runProgram(["sleep", "2"])
      let count = try switches(ofTask: thread) - before.switches
      let time = try processorTime(ofTask: thread) - before.time
      print("idle: the first thread (\(loop)) slept \(count) times and ran \(time / 1000) µs in 2 s")
      #expect(count <= 4)
      #expect(time < 20_000_000)
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
    }
  }
}
