import AppLifecycle
import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// A real service under a double of the service manager.
@Suite(.serialized, .timeLimit(.hang)) struct ServiceHostTests {
  typealias Place = ServiceManagerDouble.Place

  /// Runs the probe under a manager; the body ends it.
  func underManager(
    _ place: Place = .path, _ options: [String] = [], environment: [String: String] = [:],
    body: (ProbeSession, ServiceManagerDouble) async throws -> Void
  ) async throws -> FinishedProgram {
    try await ProbeSession.run("ServiceProbe") { probe in
      let manager = try ServiceManagerDouble(place, in: probe.directory)
      let variables = environment.merging(["NOTIFY_SOCKET": manager.address]) { $1 }
      // The gate is the test's to open: only a test of the budget may have it pass on a busy machine.
      let budget = options.contains("--budget") ? [] : ["--budget", "60000"]
      async let finished = runProgram(
        probe.arguments() + options + budget + ["--gate", probe.gate.path], environment: variables,
        inOwnSession: true, within: .seconds(600))
      try await probe.log.line(startingWith: "host service")
      try await body(probe, manager)
      return try await finished
    }
  }

  /// A second gate of the same test.
  func gate(_ name: String, in directory: TemporaryDirectory) throws -> Gate { try Gate(directory.file(name)) }

  @Test(arguments: Place.allCases) func itIsReadyStopsInFullOrderAndEndsWithStatusZero(place: Place) async throws {
    let finished = try await underManager(place) { probe, manager in
      let ready = try await manager.notice(with: "READY")
      let pid = try probe.pid()
      #expect(ready.value("MAINPID") == "\(pid)")
      #expect(manager.lines.contains("STATUS=launched, and in one line"))
      try probe.signal(SIGTERM)
      try await manager.notice(with: "STOPPING")
      try await probe.log.line(startingWith: "release begin")
      try probe.gate.open()
      try await manager.notice(with: "BARRIER")
      try await probe.isNotRunning()
      #expect(manager.notices.allSatisfy { $0.sender == pid })
      #expect(manager.lines.last == "BARRIER=1")
      #expect(!probe.log.lines.contains { $0.hasPrefix("children inherit") })
      #expect(probe.log.lines.contains("time in the background: unlimited"))
      probe.expectRecords(.launchInBackground("launch"), .terminate("SIGTERM"))
    }
    #expect(finished.ending == .exited(0))
    #expect(finished.errors == "")
  }

  /// The manager may start what depends on the service only when it serves.
  @Test func itIsReadyOnlyOnceWhatItServesWithIsHeld() async throws {
    try await withTemporaryDirectory { directory in
      let acquireGate = try gate("acquire", in: directory)
      let finished = try await underManager(
        .path, ["--acquire-gate", acquireGate.path, "--extension", "300"]
      ) { probe, manager in
        try await probe.log.line(startingWith: "acquire begin")
        // Time passes: the manager is asked for more, again and again, and hears no READY.
        for _ in 0..<3 {
          #expect(try await manager.notice(with: "EXTEND_TIMEOUT_USEC").value("EXTEND_TIMEOUT_USEC") == "300000")
        }
        #expect(!manager.lines.contains("READY=1"))
        try acquireGate.open()
        try await manager.notice(with: "READY")
        #expect(probe.log.lines.contains("acquire end"))
        try probe.gate.open()
        try probe.signal(SIGTERM)
        try await probe.isNotRunning()
      }
      #expect(finished.ending == .exited(0))
    }
  }

  /// Held is not enough where the program says itself when it serves.
  @Test func itIsReadyOnlyOnceALoopHasDeclaredIt() async throws {
    try await withTemporaryDirectory { directory in
      let readyGate = try gate("ready", in: directory)
      let finished = try await underManager(
        .path, ["--ready-gate", readyGate.path, "--extension", "300"]
      ) { probe, manager in
        try await probe.log.line(startingWith: "server begin")
        for _ in 0..<2 { try await manager.notice(with: "EXTEND_TIMEOUT_USEC") }
        #expect(!manager.lines.contains("READY=1"))
        try readyGate.open()
        try await manager.notice(with: "READY")
        try probe.gate.open()
        try probe.signal(SIGTERM)
        try await probe.isNotRunning()
      }
      #expect(finished.ending == .exited(0))
    }
  }

  @Test func itIsToldToEndWhileItStarts() async throws {
    try await withTemporaryDirectory { directory in
      let acquireGate = try gate("acquire", in: directory)
      let finished = try await underManager(.path, ["--acquire-gate", acquireGate.path]) { probe, manager in
        try await probe.log.line(startingWith: "acquire begin")
        try probe.gate.open()
        try probe.signal(SIGTERM)
        try await manager.notice(with: "STOPPING")
        // Acquiring is cancelled; what it got all the same is released.
        try await probe.isNotRunning()
        #expect(!manager.lines.contains("READY=1"))
        probe.expectRecords(.launchInBackground("launch"), .terminate("SIGTERM"))
      }
      #expect(finished.ending == .exited(0))
    }
  }

  @Test func interruptEndsItAsWell() async throws {
    let finished = try await underManager { probe, manager in
      try await manager.notice(with: "READY")
      try probe.gate.open()
      try probe.signal(SIGINT)
      try await probe.isNotRunning()
      probe.expectRecords(.launchInBackground("launch"), .terminate("SIGINT"))
    }
    #expect(finished.ending == .exited(0))
  }

  /// A supervisor repeats its order while the service saves.
  @Test(arguments: [(SIGTERM, SIGTERM), (SIGTERM, SIGINT), (SIGINT, SIGTERM)])
  func aRepeatedOrderLetsItSave(first: Int32, second: Int32) async throws {
    let finished = try await underManager { probe, manager in
      try await manager.notice(with: "READY")
      try probe.signal(first)
      try await probe.log.line(startingWith: "release begin")
      for _ in 0..<2 {
        try await copiesHaveCome(since: .now)
        try probe.signal(second)
      }
      try probe.gate.open()
      try await probe.isNotRunning()
      #expect(probe.log.lines.contains("release end"))
    }
    #expect(finished.ending == .exited(0))
  }

  /// Also while the process goes from the end of the host to its own.
  @Test func ordersThatNeverStopLetItSave() async throws {
    let finished = try await underManager { probe, manager in
      try await manager.notice(with: "READY")
      try probe.signal(SIGTERM)
      try await probe.log.line(startingWith: "release begin")
      try await copiesHaveCome(since: .now)
      let pid = try probe.pid()
      async let orders: Void = onThread { while kill(pid, SIGTERM) == 0 { sched_yield() } }
      try probe.gate.open()
      await orders
      #expect(probe.log.lines.contains("release end"))
    }
    #expect(finished.ending == .exited(0))
  }

  @Test(arguments: [(SIGTERM, SIGTERM), (SIGINT, SIGTERM), (SIGTERM, SIGQUIT)])
  func aSecondOrderThatInsistsEndsItAtOnce(first: Int32, second: Int32) async throws {
    let finished = try await underManager(.path, ["--insist-at", "SIGTERM"]) { probe, manager in
      try await manager.notice(with: "READY")
      try probe.signal(first)
      try await probe.log.line(startingWith: "release begin")
      // The gate stays shut: only the signal can end it.
      try await probe.insist(on: second)
    }
    #expect(finished.ending == .killed(second))
  }

  @Test func theProgramEndsItself() async throws {
    let finished = try await underManager(.path, ["--quit-at-reload"]) { probe, manager in
      try await manager.notice(with: "READY")
      try probe.gate.open()
      try probe.signal(SIGHUP)
      try await manager.notice(with: "STOPPING")
      try await probe.isNotRunning()
      probe.expectRecords(.launchInBackground("launch"), .asked("reload", in: .background), .terminate("reload"))
    }
    #expect(finished.ending == .exited(0))
  }

  /// A suspended application would end without a call: but the process runs, and so does its end.
  @Test func aSuspendedApplicationIsWokenForItsEnd() async throws {
    let finished = try await underManager(.path, ["--suspend-at-reload"]) { probe, manager in
      try await manager.notice(with: "READY")
      try probe.gate.open()
      try probe.signal(SIGHUP)
      try await probe.log.line(startingWith: "state suspended suspended reload")
      try probe.signal(SIGTERM)
      try await probe.isNotRunning()
      #expect(probe.log.lines.contains("delegate applicationWillTerminate background SIGTERM"), "\(probe.log.lines)")
    }
    #expect(finished.ending == .exited(0))
  }

  /// What could not be saved is said.
  @Test func aReleaseThatFailsIsReported() async throws {
    let finished = try await underManager(.path, ["--release-error"]) { probe, manager in
      try await manager.notice(with: "READY")
      try probe.gate.open()
      try probe.signal(SIGTERM)
      try await probe.isNotRunning()
    }
    #expect(finished.ending == .exited(0))
    #expect(finished.errors == #"ServiceProbe: “socket” was released with an error: refused\u{1B}[2J"# + "\n")
  }

  // MARK: Watchdog

  @Test func itPingsUntilItStops() async throws {
    let finished = try await underManager(
      .path, ["--extension", "200"], environment: ["WATCHDOG_USEC": "200000"]
    ) { probe, manager in
      try await manager.notice(with: "READY")
      for _ in 0..<3 { try await manager.notice(with: "WATCHDOG") }
      try probe.signal(SIGTERM)
      try await manager.notice(with: "STOPPING")
      // Time passes, of which each of these takes as much as a ping would.
      for _ in 0..<3 { try await manager.notice(with: "EXTEND_TIMEOUT_USEC") }
      try probe.gate.open()
      try await probe.isNotRunning()
      let lines = manager.lines
      let stopping = try #require(lines.firstIndex(of: "STOPPING=1"))
      #expect(!lines[stopping...].contains("WATCHDOG=1"))
      #expect(!lines[..<lines.firstIndex(of: "READY=1")!].contains("WATCHDOG=1"))
    }
    #expect(finished.ending == .exited(0))
  }

  // MARK: Budgets

  @Test func aReleaseThatTakesTooLongIsNamed() async throws {
    let finished = try await underManager(.path, ["--budget", "100"]) { probe, manager in
      try await manager.notice(with: "READY")
      try probe.signal(SIGTERM)
    }
    #expect(finished.ending == .exited(70))
    #expect(
      finished.errors
        == "ServiceProbe: the tear-down of applicationWillTerminate overran its budget of 0.1 seconds: socket\n")
  }

  @Test func aMainActorThatDoesNotAnswerIsNotWaitedFor() async throws {
    try await withTemporaryDirectory { directory in
      let blockGate = try gate("block", in: directory)
      let finished = try await underManager(.path, ["--budget", "100", "--block-gate", blockGate.path]) {
        probe, manager in
        try await manager.notice(with: "READY")
        try probe.signal(SIGTERM)
      }
      #expect(finished.ending == .exited(70))
      #expect(
        finished.errors
          == "ServiceProbe: the tear-down of applicationWillTerminate overran its budget of 0.1 seconds: "
          + "applicationWillTerminate blocks the main actor\n")
    }
  }

  // MARK: Asked before its end

  @Test func aServiceThatIsToBeAskedStopsAtTheSecondOrderOnly() async throws {
    let finished = try await underManager(.path, ["--refuse", "--ask-at", "SIGTERM"]) { probe, manager in
      try await manager.notice(with: "READY")
      try probe.gate.open()
      try probe.signal(SIGTERM)
      try await probe.log.line(startingWith: "delegate applicationShouldTerminate background SIGTERM")
      try await copiesHaveCome(since: .now)
      #expect(!manager.lines.contains("STOPPING=1"))
      try probe.signal(SIGTERM)
      try await manager.notice(with: "STOPPING")
      try await probe.isNotRunning()
      probe.expectRecords(
        .launchInBackground("launch"), .asked("SIGTERM", in: .background), .terminate("SIGTERM"))
    }
    #expect(finished.ending == .exited(0))
  }

  // MARK: Configured under @main

  @Test func underMainItIsCutWhenItsConfiguredBudgetHasPassedAndNamed() async throws {
    let finished = try await underManager(.path, ["--main", "--budget", "300"]) { probe, manager in
      try await manager.notice(with: "READY")
      // The gate stays shut.
      try probe.signal(SIGTERM)
      try await manager.notice(with: "STOPPING")
    }
    #expect(finished.ending == .exited(70))
    #expect(
      finished.errors
        == "ServiceProbe: the tear-down of applicationWillTerminate overran its budget of 0.3 seconds: socket\n")
  }

  /// The budget is out of reach, because a host that runs late may reach two limits at once.
  @Test func underMainItExtendsTheManagersTimeOutByTheConfiguredLength() async throws {
    let finished = try await underManager(.path, ["--main", "--budget", "600000"]) { probe, manager in
      try await manager.notice(with: "READY")
      try probe.signal(SIGTERM)
      try await manager.notice(with: "STOPPING")
      #expect(
        try await manager.notice(with: "EXTEND_TIMEOUT_USEC").value("EXTEND_TIMEOUT_USEC") == "10000000")
      try probe.gate.open()
      try await probe.isNotRunning()
    }
    #expect(finished.ending == .exited(0))
    #expect(finished.errors == "")
  }

  // MARK: In a loop of the program's own

  @Test func itLivesInALoopOfTheProgramsOwn() async throws {
    try await withTemporaryDirectory { directory in
      let pipe = try gate("own", in: directory)
      let finished = try await underManager(.path, ["--own-loop", pipe.path]) { probe, manager in
        try await manager.notice(with: "READY")
        for word in ["one", "two"] {
          try pipe.write("\(word)\n")
          try await probe.log.line(startingWith: "loop \(word)")
        }
        try probe.gate.open()
        try probe.signal(SIGTERM)
        try await probe.isNotRunning()
        probe.expectRecords(.launchInBackground("launch"), .terminate("SIGTERM"))
      }
      #expect(finished.ending == .exited(0))
      #expect(finished.errors == "")
    }
  }
}
