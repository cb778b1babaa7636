import Glibc
import PseudoTerminal
import PubSub
import Scheduling
import TestTraits
import Testing

@testable import AppLifecycle
@testable import UnixHost

/// Which failures of managed resources are reported, against the pure value that decides.
@Suite struct ResourceReportsTests {
  private func failing(
    _ failures: Int, error: String = "in use", wait: Duration = .milliseconds(250), name: String = "server"
  ) -> ResourceHealth {
    ResourceHealth(
      name: name, phase: .running, status: .retrying(failures: failures), failures: failures, lastError: error,
      since: .zero, retryDelay: wait)
  }

  private func health(
    _ status: ResourceStatus, failures: Int = 0, name: String = "server", isBroken: Bool = false
  ) -> ResourceHealth {
    ResourceHealth(
      name: name, phase: .running, status: status, failures: failures, lastError: "in use", since: .zero,
      isBroken: isBroken)
  }

  @Test func theFirstFailureIsReportedAtOnceAndTheSuccessAfterIt() {
    var reports = ResourceReports()
    #expect(reports.take(health(.acquiring), at: .zero) == nil)
    let text = "“server” cannot be acquired: in use; trying again in 0.250 s"
    #expect(reports.take(failing(1), at: .zero)?.text == text)
    #expect(reports.trouble == text)
    #expect(reports.take(health(.acquiring, failures: 1), at: .zero) == nil)
    #expect(reports.trouble == text)
    #expect(reports.take(health(.held), at: .zero)?.text == "“server” has been acquired after one failure")
    #expect(reports.trouble == nil)
    // Where nothing failed, nothing is said.
    #expect(reports.take(health(.held), at: .zero) == nil)
  }

  /// The waits are those of a policy: each doubles, a fifth of each is left to chance, none is longer than half a minute.
  @Test func aWaitIsReportedAgainWhenItHasGrownAndNotWhenChanceChangesIt() {
    let seed = UInt64.random(in: .min ... .max)
    print("ResourceReportsTests.aWaitIsReportedAgain: seed \(seed)")
    var random = SplitMix64(seed: seed)
    var reports = ResourceReports()
    var reported: [Int] = []
    for failures in 1...1000 {
      let wait = RetryPolicy().delay(afterFailures: failures, chance: .random(in: 0..<1, using: &random))
      if reports.take(failing(failures, wait: wait), at: .seconds(failures)) != nil { reported.append(failures) }
    }
    // 0.25, 0.5, 1, 2, 4, 8, 16 and 30 s.
    #expect(reported == Array(1...8), "seed \(seed)")
    #expect(
      reports.take(health(.held), at: .seconds(1001))?.text == "“server” has been acquired after 1000 failures"
    )
  }

  @Test func everyErrorOfTheProgramsCodeIsReportedOnce() {
    struct DiskIsFull: Error, CustomStringConvertible { var description: String { "disk is full\u{1B}[2J" } }
    struct Tick: BusEvent {}
    var reports = ResourceReports()
    func report(_ step: EventName, event: (any EventBus.Event)? = nil, isToldByEvent: Bool = false) -> String? {
      let store = EventBus.Subscriber(label: "store", fileID: "", line: 0)
      var failure = EventBus.HandlerFailure(subscriber: store, eventName: step, event: event, error: DiskIsFull())
      failure.isToldByEvent = isToldByEvent
      return reports.take(failure, at: .zero)?.text
    }
    let error = #": disk is full\u{1B}[2J"#
    #expect(report("release") == "“store” was released with an error" + error)
    #expect(report("run(while: .active)") == "“store” ended with an error" + error)
    #expect(report("task") == "“store” ended with an error" + error)
    #expect(report("every") == "“store” threw an error, and goes on at its next time" + error)
    #expect(report("observe") == "“store” threw an error in observe" + error)
    #expect(report("run", event: Tick()) == "“store” threw an error while it handled run" + error)
    // The change of the resource's health says what follows.
    #expect(report("acquire", isToldByEvent: true) == nil)
    // So many, and no more at once.
    for _ in 6..<ResourceReports.burst { #expect(report("release") != nil) }
    #expect(report("release") == nil)
  }

  @Test func anotherErrorIsNewsAndTheSameOneIsNot() {
    var reports = ResourceReports()
    #expect(reports.take(failing(1), at: .zero) != nil)
    #expect(reports.take(failing(2), at: .zero) == nil)
    #expect(
      reports.take(failing(3, error: "no route"), at: .zero)?.text
        == "“server” cannot be acquired: no route; trying again in 0.250 s")
    #expect(reports.take(failing(4, error: "no route"), at: .zero) == nil)
  }

  @Test func oneThatBrokeIsReportedAndSoIsItsReturn() {
    var reports = ResourceReports()
    // Acquired again at once.
    #expect(reports.take(health(.releasing, isBroken: true), at: .zero) == nil)
    #expect(reports.take(health(.acquiring), at: .zero)?.text == "“server” broke: in use; acquiring it again")
    #expect(reports.trouble == "“server” broke: in use; acquiring it again")
    #expect(reports.take(health(.held), at: .zero)?.text == "“server” has been acquired again")
    #expect(reports.trouble == nil)
    // After a wait.
    _ = reports.take(health(.releasing, isBroken: true), at: .zero)
    #expect(reports.take(failing(1), at: .zero)?.text == "“server” broke: in use; trying again in 0.250 s")
    #expect(
      reports.take(failing(2, error: "refused"), at: .zero)?.text
        == "“server” cannot be acquired: refused; trying again in 0.250 s")
    #expect(reports.take(health(.held), at: .zero)?.text == "“server” has been acquired after 2 failures")
    // Given up.
    _ = reports.take(health(.releasing, isBroken: true), at: .zero)
    #expect(
      reports.take(health(.failed(failures: 1)), at: .zero)?.text
        == "“server” broke: in use; given up after one failure")
  }

  @Test func oneThatBreaksTimeAndAgainHasNotRecovered() {
    var reports = ResourceReports()
    // An acquire that failed is no break.
    _ = reports.take(failing(1), at: .zero)
    #expect(reports.take(health(.held), at: .zero)?.text == "“server” has been acquired after one failure")
    func breaks(_ count: Int, wait: Duration) -> HostMessage? {
      _ = reports.take(health(.releasing, isBroken: true), at: .zero)
      return reports.take(failing(count, wait: wait), at: .zero)
    }
    #expect(
      breaks(2, wait: .milliseconds(500))?.text == "“server” broke: in use; trying again in 0.500 s")
    #expect(reports.take(health(.held), at: .zero) != nil)
    #expect(
      breaks(3, wait: .seconds(1))?.text == "“server” broke again: in use; trying again in 1 s")
    #expect(reports.take(health(.held), at: .zero) == nil)
    #expect(reports.trouble == nil)
    // Nothing new, but the status text has to know.
    #expect(breaks(4, wait: .seconds(1)) == nil)
    #expect(reports.trouble != nil)
    _ = reports.take(health(.held), at: .zero)
    // Held for long enough: a new row.
    #expect(breaks(1, wait: .milliseconds(250))?.text.contains("“server” broke: in use") == true)
  }

  @Test func oneThatBrokeTogetherWithItsDependencyIsReportedWhenThatIsBack() {
    var reports = ResourceReports()
    _ = reports.take(health(.releasing, isBroken: true), at: .zero)
    #expect(reports.take(health(.waiting(for: "disk")), at: .zero) == nil)
    #expect(
      reports.take(health(.acquiring), at: .zero)?.text == "“server” broke: in use; acquiring it again")
    // Another resource that has its name now, and never failed.
    _ = reports.take(health(.held), at: .zero)
    _ = reports.take(health(.releasing, isBroken: true), at: .zero)
    let new = ResourceHealth(name: "server", phase: .running, status: .acquiring)
    #expect(reports.take(new, at: .zero) == nil)
  }

  @Test func oneThatIsReleasedWithItsPhaseHasNotBroken() {
    var reports = ResourceReports()
    #expect(reports.take(health(.releasing), at: .zero) == nil)
    #expect(reports.take(health(.acquiring), at: .zero) == nil)
    #expect(reports.take(health(.held), at: .zero) == nil)
    // Its phase closed while it was released.
    #expect(reports.take(health(.releasing, isBroken: true), at: .zero) == nil)
    #expect(reports.take(health(.idle), at: .zero) == nil)
    #expect(reports.take(health(.acquiring), at: .zero) == nil)
  }

  @Test func oneThatIsNotWantedAnyMoreIsNoTrouble() {
    var reports = ResourceReports()
    _ = reports.take(failing(1), at: .zero)
    // Between two attempts, and while it waits for another resource, it is still wanted.
    #expect(reports.take(health(.idle, failures: 1), at: .zero) == nil)
    #expect(reports.take(health(.waiting(for: "disk"), failures: 1), at: .zero) == nil)
    #expect(reports.trouble != nil)
    #expect(reports.take(health(.idle), at: .zero) == nil)
    #expect(reports.trouble == nil)
    #expect(reports.take(failing(1), at: .zero)?.text != nil)
  }

  @Test func theTroubleNamesTheFirstOfSeveral() {
    var reports = ResourceReports()
    for name in ["a", "b", "c"] { _ = reports.take(failing(1, name: name), at: .zero) }
    let tail = "cannot be acquired: in use; trying again in 0.250 s"
    #expect(reports.trouble == "“a” \(tail) (and 2 more)")
    _ = reports.take(health(.held, name: "a"), at: .zero)
    #expect(reports.trouble == "“b” \(tail) (and 1 more)")
    _ = reports.take(health(.held, name: "c"), at: .zero)
    #expect(reports.trouble == "“b” \(tail)")
  }

  @Test func aTextIsOneShortLineWithoutCommandsToATerminal() throws {
    var reports = ResourceReports()
    let error = "no\n\u{1B}[2J\u{9B}\u{7F}\u{2028}\u{202E} route" + String(repeating: "e\u{301}", count: 100_000)
    let name = String(repeating: "n", count: 100_000)
    let line = try #require(reports.take(failing(1, error: error, name: name), at: .zero)?.text)
    #expect(line.contains(#"no\u{A}\u{1B}[2J\u{9B}\u{7F}\u{2028}\u{202E} route"#))
    #expect(line.contains("…; trying again in 0.250 s"))
    #expect(line.utf8.count < 8000)
    #expect(!line.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) })
  }

  @Test(arguments: [
    (Duration.zero, "0 s"), (.milliseconds(5), "0.005 s"), (.microseconds(212_900), "0.212 s"), (.seconds(1), "1 s"),
    (.milliseconds(1740), "1.740 s"), (.milliseconds(24_400), "24.400 s"), (.seconds(3600), "3600 s"),
  ])
  func aWaitIsShort(wait: Duration, text: String) {
    var reports = ResourceReports()
    #expect(reports.take(failing(1, wait: wait), at: .zero)?.text.hasSuffix("trying again in \(text)") == true)
  }

  // MARK: The bound

  @Test func anAcquireThatFlapsIsBoundedAndLosesNoRecovery() throws {
    var reports = ResourceReports()
    var lines: [String] = []
    // A thousand times a second, for a minute.
    for turn in 0..<60_000 {
      for health in [failing(1), health(.held)] {
        if let line = reports.take(health, at: .milliseconds(turn))?.text { lines.append(line) }
      }
    }
    let failures = lines.filter { $0.contains("cannot be acquired") }
    #expect(failures.count == ResourceReports.burst + 5)
    #expect(lines.count == 2 * failures.count)
    #expect(lines.last?.contains("has been acquired") == true)
    #expect(try #require(failures.last).hasSuffix("(reports left out before this one: 9999)"))
    #expect(reports.trouble == nil)
  }

  /// What was left out is not forgotten: a resource that still fails is named as soon as there is room.
  @Test func eachOfManyThatFailIsNamedInTheEnd() {
    var reports = ResourceReports()
    var named: Set<String> = []
    let names = (0..<150).map { "resource \($0)" }
    for second in 0..<600 {
      for name in names where reports.take(failing(second + 1, name: name), at: .seconds(second))?.text != nil {
        #expect(named.insert(name).inserted, "\(name)")
      }
      if second == 0 { #expect(named.count == ResourceReports.burst) }
    }
    #expect(named.count == names.count)
  }
}

/// The same, in real hosts.
@Suite(.serialized, .timeLimit(.hang)) struct ResourceReporterTests {
  private let first = #"“socket” cannot be acquired: refused\u{1B}[2J; trying again in "#

  @Test func aServiceReportsToItsLogAndItsManager() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      let manager = try ServiceManagerDouble(.path, in: probe.directory)
      async let finished = runProgram(
        probe.arguments("--acquire-failures", "2"), environment: ["NOTIFY_SOCKET": manager.address])
      try await manager.notice(with: "READY")
      // Both come from the main actor's side, where the recovery is posted before the host hears that all is held.
      let statuses = manager.lines.filter { $0.hasPrefix("STATUS=") }
      #expect(statuses.count { $0.hasPrefix("STATUS=\(first)") } >= 2, "\(statuses)")
      #expect(statuses.contains { $0.hasPrefix("STATUS=\(first)") && $0.hasSuffix(" s; launched, and in one line") })
      #expect(statuses.last == "STATUS=launched, and in one line")
      try probe.signal(SIGTERM)
      let end = try await finished
      #expect(end.ending == .exited(0))
      let lines = end.errors.split(separator: "\n")
      try #require(lines.count == 3, "\(end.errors)")
      #expect(lines[0].wholeMatch(of: /ServiceProbe: .* trying again in 0\.2\d\d s/) != nil, "\(lines[0])")
      #expect(lines[1].wholeMatch(of: /ServiceProbe: .* trying again in 0\.(4\d\d|500) s/) != nil, "\(lines[1])")
      #expect(lines.prefix(2).allSatisfy { $0.hasPrefix("ServiceProbe: \(first)") })
      #expect(lines[2] == "ServiceProbe: “socket” has been acquired after 2 failures")
    }
  }

  @Test func aTerminalProgramReportsWhenItsScreenIsGone() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      try await PseudoTerminal.run(probe.arguments("--main", "--acquire-failures", "1")) { terminal in
        try await probe.log.line(startingWith: "acquire end")
        terminal.child.signal(SIGTERM)
        #expect(try await terminal.child.nextEvent() == .exited(0))
        try await terminal.wait(for: "ServiceProbe: \(first)")
        try await terminal.wait(for: "ServiceProbe: “socket” has been acquired after one failure")
      }
    }
  }
}
