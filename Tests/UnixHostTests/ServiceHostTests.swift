import AppLifecycle
import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// A real service under a double of the service manager.
@Suite(.serialized, .timeLimit(.hang)) struct ServiceHostTests {
  typealias Place = ServiceManagerDouble.Place

  /// Runs the probe under a manager; the body ends it.
  private func underManager(
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
  private func gate(_ name: String, in directory: TemporaryDirectory) throws -> Gate { try Gate(directory.file(name)) }

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

  // MARK: Reload

  @Test func aReloadIsOverWhenItsHandlersAre() async throws {
    try await withTemporaryDirectory { directory in
      let reloadGate = try gate("reload", in: directory)
      let finished = try await underManager(.path, ["--reload-gate", reloadGate.path]) { probe, manager in
        try await manager.notice(with: "READY")
        let before = try #require(monotonicMicroseconds())
        try probe.signal(SIGHUP)
        let reloading = try await manager.notice(with: "RELOADING")
        let instant = try #require(reloading.value("MONOTONIC_USEC").flatMap { Int64($0) })
        #expect(instant >= before && instant <= monotonicMicroseconds()!)
        try await probe.log.line(startingWith: "reload begin")
        // Several meanwhile are one more.
        for _ in 0..<3 { try probe.signal(SIGHUP) }
        #expect(manager.lines.count { $0 == "READY=1" } == 1)
        try reloadGate.open()
        try await manager.notice(with: "READY")
        try await manager.notice(with: "RELOADING")
        try await probe.log.line(startingWith: "reload begin")
        try reloadGate.open()
        try await manager.notice(with: "READY")
        try probe.gate.open()
        try probe.signal(SIGTERM)
        try await probe.isNotRunning()
        #expect(probe.log.lines.count { $0 == "reload end" } == 2)
        #expect(manager.lines.count { $0 == "READY=1" } == 3)
      }
      #expect(finished.ending == .exited(0))
    }
  }

  @Test func aReloadThatFailsIsReportedAndOver() async throws {
    let failure = #"the reload failed: reader"#
    let finished = try await underManager(.path, ["--reload-error"]) { probe, manager in
      try await manager.notice(with: "READY")
      try probe.signal(SIGHUP)
      try await manager.notice(with: "RELOADING")
      let status = try await manager.notice(with: "STATUS").value("STATUS")
      #expect(status?.hasPrefix(failure) == true, "\(status ?? "")")
      #expect(status?.contains(#"refused\u{1B}[2J; launched"#) == true, "\(status ?? "")")
      try await manager.notice(with: "READY")
      try probe.signal(SIGHUP)
      #expect(try await manager.notice(with: "STATUS").value("STATUS") == "launched, and in one line")
      try await manager.notice(with: "READY")
      try probe.gate.open()
      try probe.signal(SIGTERM)
      try await probe.isNotRunning()
    }
    #expect(finished.ending == .exited(0))
    let line = "ServiceProbe: “reader” threw an error while it handled ServiceHost.Reload: "
    #expect(finished.errors.hasPrefix(line), "\(finished.errors)")
  }

  /// A resource that was given up: the manager's own time-out has to act, and knows why.
  @Test func aStartThatHasGivenUpSaysSo() async throws {
    let finished = try await underManager(
      .path, ["--retries", "1", "--acquire-failures", "2", "--extension", "100"]
    ) { probe, manager in
      try await probe.log.line(startingWith: "acquire begin")
      try await probe.log.line(startingWith: "acquire begin")
      while try await manager.notice(with: "STATUS").value("STATUS")?.contains("given up after 2 failures") != true {}
      try probe.gate.open()
      try probe.signal(SIGTERM)
      try await manager.notice(with: "STOPPING")
      #expect(!manager.lines.contains("READY=1"))
    }
    #expect(finished.ending == .exited(0))
  }

  /// Also without a manager, where a reload shows that the start is over.
  @Test(arguments: [true, false]) func aRetryLetsItBecomeReady(hasManager: Bool) async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      let manager = try ServiceManagerDouble(.path, in: probe.directory)
      let retryGate = try gate("retry", in: probe.directory)
      async let finished = runProgram(
        probe.arguments("--retries", "1", "--acquire-failures", "2", "--retry-gate", retryGate.path),
        environment: hasManager ? ["NOTIFY_SOCKET": manager.address] : [:], inOwnSession: true)
      for _ in 0..<2 { try await probe.log.line(startingWith: "acquire begin") }
      try probe.signal(SIGHUP)
      try retryGate.open()
      try await probe.log.line(startingWith: "acquire end")
      try await probe.log.line(startingWith: "reload end")
      if hasManager { try await manager.notice(with: "READY") }
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
    }
  }

  private func monotonicMicroseconds() -> Int64? {
    var time = timespec()
    guard clock_gettime(CLOCK_MONOTONIC, &time) == 0 else { return nil }
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
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

  // MARK: Without a manager, and through `@main`

  @Test func withoutAManagerAllTheRestIsTheSame() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      async let finished = runProgram(probe.arguments())
      try await probe.log.line(startingWith: "acquire end")
      try probe.signal(SIGHUP)
      try await probe.log.line(startingWith: "reload end")
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
      probe.expectRecords(.launchInBackground("launch"), .terminate("SIGTERM"))
    }
  }

  @Test func aManagerThatIsGoneIsSaidOnce() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      async let finished = runProgram(
        probe.arguments(), environment: ["NOTIFY_SOCKET": probe.directory.file("nobody")])
      try await probe.log.line(startingWith: "acquire end")
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
      #expect(
        try await finished.errors
          == "ServiceProbe: cannot send messages to the service manager: No such file or directory\n")
    }
  }

  @Test(arguments: ["relative", "vsock:2:1234", "/" + String(repeating: "x", count: 107), "@"])
  func aManagerThatCannotBeReachedIsSaid(address: String) async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      async let finished = runProgram(probe.arguments(), environment: ["NOTIFY_SOCKET": address])
      try await probe.log.line(startingWith: "acquire end")
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
      let reason = "$NOTIFY_SOCKET does not name a usable socket"
      #expect(
        try await finished.errors == "ServiceProbe: cannot send messages to the service manager: \(reason)\n")
    }
  }

  @Test func theDelegatesOwnMainIsAServiceUnderAManager() async throws {
    let finished = try await underManager(.abstract, ["--main"]) { probe, manager in
      try await manager.notice(with: "READY")
      try probe.gate.open()
      try probe.signal(SIGTERM)
      try await probe.isNotRunning()
    }
    #expect(finished.ending == .exited(0))
  }

  @Test func theDelegatesOwnMainIsATerminalProgramAtATerminal() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      try await PseudoTerminal.run(probe.arguments("--main")) { terminal in
        try await probe.log.line(startingWith: "host terminal")
        terminal.child.signal(SIGTERM)
        #expect(try await terminal.child.nextEvent() == .exited(0))
      }
    }
  }

  // MARK: Variables that were inherited from another process

  /// A user's shell may run under a service, in a terminal multiplexer say.
  @Test(arguments: ["--main", nil], [["SYSTEMD_EXEC_PID": "1"], [:]])
  func atATerminalAnInheritedManagerIsToldNothing(option: String?, variables: [String: String]) async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      let manager = try ServiceManagerDouble(.path, in: probe.directory)
      let environment = variables.merging(["NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "200000"]) { $1 }
      try await PseudoTerminal.run(probe.arguments() + [option].compactMap(\.self), environment: environment) {
        terminal in
        try await probe.log.line(startingWith: "host \(option == nil ? "service" : "terminal")")
        try await probe.log.line(startingWith: "acquire end")
        terminal.child.signal(SIGTERM)
        #expect(try await terminal.child.nextEvent() == .exited(0))
        try await terminal.outputHasEnded()
        // A service says it; a terminal program is what its user expects.
        #expect(terminal.text.contains("$NOTIFY_SOCKET was inherited from another process") == (option == nil))
      }
      #expect(manager.lines.isEmpty)
    }
  }

  @Test func theMainProcessOfAUnitWithATerminalIsAService() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      let manager = try ServiceManagerDouble(.path, in: probe.directory)
      let main = ["sh", "-c", "export SYSTEMD_EXEC_PID=$$; exec \"$@\"", "-"] + probe.arguments("--main")
      try await PseudoTerminal.run(main, environment: ["NOTIFY_SOCKET": manager.address]) { terminal in
        try await probe.log.line(startingWith: "host service")
        try await manager.notice(with: "READY")
        terminal.child.signal(SIGTERM)
        #expect(try await terminal.child.nextEvent() == .exited(0))
        try await terminal.outputHasEnded()
        #expect(terminal.text.contains("the program runs as a service, because $NOTIFY_SOCKET is set"))
      }
    }
  }

  @Test(arguments: [
    ("terminal", ["--main"], "terminal"), ("service", ["--main"], "service"), ("neither", ["--main"], "terminal"),
    ("terminal", ["--host", "service"], "service"), ("service", ["--host", "terminal"], "terminal"),
  ])
  func theKindOfHostCanBeChosen(variable: String, options: [String], kind: String) async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      let environment = ["APP_LIFECYCLE_HOST": variable]
      try await PseudoTerminal.run(probe.arguments() + options, environment: environment) { terminal in
        try await probe.log.line(startingWith: "host \(kind)")
        try await probe.log.line(startingWith: "acquire end")
        terminal.child.signal(SIGTERM)
        #expect(try await terminal.child.nextEvent() == .exited(0))
        try await terminal.outputHasEnded()
        #expect(terminal.text.contains("$APP_LIFECYCLE_HOST is “neither”") == (variable == "neither"))
        #expect(!probe.log.lines.contains { $0.hasPrefix("children inherit") })
      }
    }
  }

  /// A program with privileges that its caller lacks must not write where its caller says.
  @Test func aProgramWithPrivilegesOfItsOwnReadsNoVariable() async throws {
    guard getuid() == 0 else {
      print("skipped with privileges of its own: only root may give a file to another user")
      try Test.cancel("only root may give a file to another user")
    }
    try await ProbeSession.run("ServiceProbe") { probe in
      let manager = try ServiceManagerDouble(.path, in: probe.directory)
      let copy = probe.directory.file("ServiceProbe")
      _ = try await runProgram(["cp", builtProduct("ServiceProbe"), copy])
      // All of it belongs to another user, in whose name the program runs.
      let other: uid_t = 65_534
      for path in [copy, probe.log.path, probe.gate.path, probe.directory.path] { chown(path, other, other) }
      chmod(copy, 0o4755)
      let pressure = probe.directory.file("pressure")
      mkfifo(pressure, 0o666)
      // The dynamic linker ignores LD_LIBRARY_PATH, too.
      let environment = ["NOTIFY_SOCKET": manager.address, "MEMORY_PRESSURE_WATCH": pressure]
      async let finished = runProgram(
        [copy, "--log", probe.log.path], environment: environment, inOwnSession: true)
      try await probe.log.line(startingWith: "acquire end")
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
      #expect(manager.lines.isEmpty)
      #expect(!probe.log.lines.contains { $0.contains(pressure) })
      #expect(
        try await finished.errors.contains("a program with set-user-ID or file capabilities ignores $NOTIFY_SOCKET"))
    }
  }

  @Test func theDelegatesOwnMainIsAServiceWithoutATerminal() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      // `setsid` gives the program a session without a terminal, and waits for it.
      async let finished = runProgram(["setsid", "--wait"] + probe.arguments("--main"))
      try await probe.log.line(startingWith: "host service")
      try await probe.log.line(startingWith: "acquire end")
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
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
      #expect(
        try await manager.notice(with: "EXTEND_TIMEOUT_USEC").value("EXTEND_TIMEOUT_USEC") == "10000000")
    }
    #expect(finished.ending == .exited(70))
    #expect(
      finished.errors
        == "ServiceProbe: the tear-down of applicationWillTerminate overran its budget of 0.3 seconds: socket\n")
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
