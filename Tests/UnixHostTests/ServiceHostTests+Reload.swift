import AppLifecycle
import Glibc
import PseudoTerminal
import Testing

/// Reloads, and starts that wait for what was given up.
extension ServiceHostTests {
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

  func monotonicMicroseconds() -> Int64? {
    var time = timespec()
    guard clock_gettime(CLOCK_MONOTONIC, &time) == 0 else { return nil }
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}
