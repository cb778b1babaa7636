import Glibc
import PseudoTerminal
import ResourceScenarios
import TestTraits
import Testing

/// Resources that break, and releases that are late, on real hosts; the simulator runs the same scenarios.
@Suite(.serialized, .timeLimit(.hang)) struct BreakingChainTests {
  @Test(arguments: BreakingChain.Ending.allCases)
  func aLoopInTheMiddleOfAChainEnds(ending: BreakingChain.Ending) async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      let manager = try ServiceManagerDouble(.path, in: probe.directory)
      // Only the loop that does not end waits for its budget; it must be the only one to overrun it.
      let budget = ending == .ignoresCancellation ? "3000" : ProbeSession.longBudget
      async let finished = runProgram(
        probe.arguments() + ["--chain", ending.rawValue, "--budget", budget],
        environment: ["NOTIFY_SOCKET": manager.address])
      let expected = ending.lines.map { "chain \($0)" }
      // The last line comes twice: when the chain is held, and when it is held again.
      for _ in 0..<2 { try await probe.log.line(startingWith: "chain +d") }
      #expect(probe.log.lines.filter { $0.hasPrefix("chain") } == expected)
      let late = probe.log.lines.filter { $0.hasPrefix("report watchdog") }
      #expect(late == (ending == .ignoresCancellation ? ["report watchdog:b background release of b"] : []))
      try probe.signal(SIGTERM)
      try await probe.isNotRunning()
      #expect(
        probe.log.lines.filter { $0.hasPrefix("chain") } == expected + ["-d", "-c", "-b", "-a"].map { "chain \($0)" })
      #expect(try await finished.ending == .exited(0))
    }
  }

  @Test func aReleaseOfAnHourEndsWithItsBudgetAndTheForegroundHoldsTheResourceAgain() async throws {
    try await ProbeSession.run { probe in
      try await Shell.bash.run { terminal in
        try await probe.launch("--slow 3600000", "--budget 500", on: terminal)
        terminal.control("Z")
        // The host reports it if the application got no processor in time; the record names the code in any case.
        try await terminal.wait(for: "applicationDidEnterBackground overran its budget of 0.5 seconds:")
        try await terminal.jobHasStopped(in: .bash)
        terminal.line("fg")
        // The process may stop before the release has noticed that it was cancelled.
        try await probe.log.line(startingWith: "release cancelled")
        try await probe.isActive(visit: 2, on: terminal)
        try await probe.log.line(startingWith: "acquire")
      }
      let lines = probe.log.lines.filter { $0.hasPrefix("acquire") || $0.hasPrefix("release") }
      #expect(lines.prefix(4) == ["acquire", "release begin", "release cancelled", "acquire"])
      #expect(probe.log.lines.contains("report watchdog:slow background Ctrl-Z"))
    }
  }
}
