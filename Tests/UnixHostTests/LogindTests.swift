#if Logind
  import AppLifecycle
  import Glibc
  import PseudoTerminal
  import TestTraits
  import Testing

  /// Real programs under a double of logind: a private bus with python3-dbusmock's template.
  @Suite(.serialized, .timeLimit(.hang)) struct LogindTests {
    /// A logind that waits for ten minutes, which no machine needs.
    private static let patient = ["delay 600000000", "session"]

    /// Runs `body` with a probe's files and a logind; skips the test, and says why, where there can be none.
    private func withLogind(
      _ program: String = "TerminalProbe", telling things: [String] = Self.patient,
      _ body: (ProbeSession, LogindDouble) async throws -> Void
    ) async throws {
      if let obstacle = try await LogindDouble.obstacle() {
        print("skipped with logind: \(obstacle)")
        try Test.cancel("\(obstacle)")
      }
      try await ProbeSession.run(program) { probe in
        try await LogindDouble.run(in: probe.directory, telling: things) { try await body(probe, $0) }
      }
    }

    /// The probe in a terminal of its own, which logind waits for; the body lets it end.
    private func onTerminal(
      _ options: [String] = [], telling things: [String] = Self.patient,
      _ body: (ProbeSession, LogindDouble, PseudoTerminal) async throws -> Void
    ) async throws {
      try await withLogind(telling: things) { probe, logind in
        try await PseudoTerminal.run(
          probe.arguments("--budget", ProbeSession.longBudget, "--gate", probe.gate.path) + options,
          environment: ["DBUS_SYSTEM_BUS_ADDRESS": logind.address]
        ) { terminal in
          try await probe.isActive(visit: 1, on: terminal)
          try await logind.log.line(startingWith: "inhibitor taken: sleep:shutdown delay")
          try await body(probe, logind, terminal)
          #expect(try await terminal.child.ending() == .exited(0))
        }
      }
    }

    private func quit(_ probe: ProbeSession, _ terminal: PseudoTerminal) async throws {
      try probe.gate.open()
      try await probe.quit(on: terminal)
    }

    // MARK: Sleep

    @Test func aSleepWaitsForTheTearDownAndAWakingUndoesIt() async throws {
      try await onTerminal { probe, logind, terminal in
        for visit in 2...3 {
          try await logind.tell("sleep")
          try await probe.log.line(startingWith: "release begin")
          #expect(try await logind.openInhibitors() == "open: 1")
          #expect(probe.records.last == "notification UIApplicationDidEnterBackgroundNotification background sleep")
          try probe.gate.open()
          try await logind.log.line(startingWith: "inhibitor released, open: 0")
          #expect(probe.records.last == "state suspended suspended sleep")

          try await logind.tell("wake")
          try await logind.log.line(startingWith: "inhibitor taken")
          try await probe.isActive(visit: visit, on: terminal)
        }
        try await quit(probe, terminal)
        try await logind.log.line(startingWith: "inhibitor released, open: 0")
        let sleep: [Records] = [.leave("sleep"), .suspend("sleep"), .wake("wake-up"), .comeBack("wake-up")]
        probe.expectRecords([.launch()] + sleep + sleep + [.quit("q")])
        #expect(logind.log.lines.filter { $0.hasPrefix("PrepareForSleep") } == Self.prepared)
        #expect(logind.log.lines.count { $0.hasPrefix("inhibitor taken") } == 3)
        #expect(!probe.log.lines.contains { $0.hasPrefix("suspended by") })
      }
    }

    /// What logind counted whenever it spoke.
    private static let prepared = [
      "PrepareForSleep True, open: 1", "PrepareForSleep False, open: 0", "PrepareForSleep True, open: 1",
      "PrepareForSleep False, open: 0",
    ]

    @Test func backgroundTasksEndBeforeASleep() async throws {
      let options = ["--task", "upload", "--budget", "5000"]
      try await onTerminal(options, telling: ["delay 1000000", "session"]) { probe, logind, terminal in
        try probe.gate.open()
        try await logind.tell("sleep")
        try await probe.log.line(startingWith: "expire upload")
        try await logind.log.line(startingWith: "inhibitor released, open: 0")
        try await logind.tell("wake")
        try await probe.isActive(visit: 2, on: terminal)
        try await quit(probe, terminal)
      }
    }

    @Test func aTearDownThatIsTooLongIsNotWaitedFor() async throws {
      try await onTerminal(telling: ["delay 100000", "session"]) { probe, logind, terminal in
        try await logind.tell("sleep")
        try await probe.log.line(startingWith: "release begin")
        // No code has opened the gate.
        try await logind.log.line(startingWith: "inhibitor released, open: 0")
        #expect(!probe.log.lines.contains("release end"))
        // The machine may have slept by now, or not; the program finishes what it has begun.
        try probe.gate.open()
        try await probe.log.line(startingWith: "state suspended")
        try await logind.tell("wake")
        try await logind.log.line(startingWith: "inhibitor taken")
        try await probe.isActive(visit: 2, on: terminal)
        try await quit(probe, terminal)
        probe.expectRecords(
          .launch(), .leave("sleep"), .suspend("sleep"), .wake("wake-up"), .comeBack("wake-up"),
          .quit("q"))
      }
    }

    @Test func aServiceSleepsInTheBackground() async throws {
      try await withLogind("ServiceProbe", telling: ["session"]) { probe, logind in
        async let finished = runProgram(
          probe.arguments(), environment: ["DBUS_SYSTEM_BUS_ADDRESS": logind.address])
        try await logind.log.line(startingWith: "inhibitor taken")
        try await logind.tell("sleep")
        try await logind.log.line(startingWith: "inhibitor released, open: 0")
        try await logind.tell("wake")
        try await logind.log.line(startingWith: "inhibitor taken")
        try await probe.log.line(startingWith: "state background background wake-up")
        try probe.signal(SIGHUP)
        #expect(try await probe.log.line(startingWith: "session") == "session available: logind")
        try probe.signal(SIGTERM)
        #expect(try await finished.ending == .exited(0))
        probe.expectRecords(
          .launchInBackground("launch"), .suspend("sleep"), .wake("wake-up"), .terminate("SIGTERM"))
      }
    }

    /// What logind waits for, no child may hold.
    @Test func noDescriptorIsInherited() async throws {
      try await onTerminal { probe, logind, terminal in
        // A client that hears of a sleep has got its inhibitor, which came before.
        try await logind.tell("sleep")
        try await probe.log.line(startingWith: "release begin")
        let process = "/proc/\(try probe.pid())"
        let descriptors = try fileNames(in: "\(process)/fd").compactMap { Int($0) }.filter { $0 > 2 }
        #expect(descriptors.count > 4)
        for descriptor in descriptors {
          let file = open("\(process)/fdinfo/\(descriptor)", O_RDONLY | O_CLOEXEC)
          guard file >= 0 else { continue }
          defer { close(file) }
          let lines = String(decoding: try readAll(from: file), as: UTF8.self).split(separator: "\n")
          let flags = try #require(lines.first { $0.hasPrefix("flags:") }?.split(separator: "\t").last)
          let isKept = try #require(Int32(flags, radix: 8)) & O_CLOEXEC == 0
          #expect(!isKept, "descriptor \(descriptor)")
        }
        #expect(try await logind.openInhibitors() == "open: 1")
        try probe.gate.open()
        try await logind.tell("wake")
        try await probe.isActive(visit: 2, on: terminal)
        try await quit(probe, terminal)
      }
    }

    // MARK: Job control

    /// It would delay every sleep of the machine, and for nothing.
    @Test func aStoppedJobHoldsNoInhibitor() async throws {
      try await withLogind { probe, logind in
        try await Shell.bash.run(environment: ["DBUS_SYSTEM_BUS_ADDRESS": logind.address]) { terminal in
          try await probe.launch(on: terminal)
          try await logind.log.line(startingWith: "inhibitor taken")
          try await terminal.stopJob(in: .bash)
          try await logind.log.line(startingWith: "inhibitor released, open: 0")
          try await logind.tell("sleep")
          try await logind.tell("wake")
          try await probe.comeBack(visit: 2, on: terminal)
          try await logind.log.line(startingWith: "inhibitor taken")
          try await probe.quit(on: terminal)
        }
        // Of a sleep that it could not see, because it was stopped itself, it is told nothing.
        probe.expectRecords(
          .launch(), .leave("Ctrl-Z"), .suspend("Ctrl-Z"), .wake("fg"), .comeBack("fg"), .quit("q"))
      }
    }

    @Test func anOrderToEndDuringASleepIsObeyedInFullOrder() async throws {
      try await onTerminal { probe, logind, terminal in
        try probe.gate.open()
        try await logind.tell("sleep")
        try await logind.log.line(startingWith: "inhibitor released, open: 0")
        try probe.signal(SIGTERM)
        try await probe.isNotRunning()
        probe.expectRecords(.launch(), .leave("sleep"), .suspend("sleep"), .wake("SIGTERM"), .terminate("SIGTERM"))
      }
    }

    @Test func `Ctrl-C ends the program however much was typed while the computer sleeps`() async throws {
      try await onTerminal { probe, logind, terminal in
        try probe.gate.open()
        try await logind.tell("sleep")
        try await logind.log.line(startingWith: "inhibitor released, open: 0")
        // In many reads, as a person types.
        for _ in 0..<200 {
          terminal.send("k")
          try await terminal.inputIsRead()
        }
        terminal.control("C")
        try await probe.isNotRunning()
      }
    }

    // MARK: The session

    @Test(arguments: [("lock", "unlock"), ("hint true", "hint false")])
    func aLockedSessionIsALockedScreen(lock: String, unlock: String) async throws {
      try await onTerminal { probe, logind, terminal in
        try probe.gate.open()
        try await logind.tell(lock)
        try await probe.log.line(startingWith: "notification UIApplicationDidEnterBackgroundNotification")
        try await logind.tell(unlock)
        try await probe.isActive(visit: 2, on: terminal)
        #expect(try await logind.openInhibitors() == "open: 1")
        try await quit(probe, terminal)
        probe.expectRecords(
          .launch(), .leave("session lock"), .comeBack("session unlock"), .quit("q"))
      }
    }

    /// As desktops do: the screen is locked because logind says so, and unlocked by a pass word.
    @Test func theHintEndsALock() async throws {
      try await onTerminal { probe, logind, terminal in
        try probe.gate.open()
        for thing in ["lock", "hint true"] { try await logind.tell(thing) }
        try await probe.log.line(startingWith: "notification UIApplicationDidEnterBackgroundNotification")
        try await logind.tell("hint false")
        try await probe.isActive(visit: 2, on: terminal)
        try await quit(probe, terminal)
        probe.expectRecords(
          .launch(), .leave("session lock"), .comeBack("session unlock"), .quit("q"))
      }
    }

    /// Some desktops tell of the lock alone.
    @Test func aKeyIsTheEndOfALock() async throws {
      try await onTerminal { probe, logind, terminal in
        try probe.gate.open()
        try await logind.tell("lock")
        try await probe.log.line(startingWith: "notification UIApplicationDidEnterBackgroundNotification")
        terminal.send("k")
        try await probe.isActive(visit: 2, on: terminal)
        try await quit(probe, terminal)
      }
    }

    @Test func withoutASessionTheRestIsTold() async throws {
      try await withLogind("ServiceProbe", telling: ["no-session"]) { probe, logind in
        async let finished = runProgram(
          probe.arguments(), environment: ["DBUS_SYSTEM_BUS_ADDRESS": logind.address])
        try await logind.log.line(startingWith: "inhibitor taken")
        try await logind.tell("sleep")
        try await probe.log.line(startingWith: "state suspended")
        try await logind.tell("wake")
        try await probe.log.line(startingWith: "state background background wake-up")
        try probe.signal(SIGHUP)
        try await probe.log.line(startingWith: "session available: logind; locks are not reported: ")
        try probe.signal(SIGTERM)
        #expect(try await finished.ending == .exited(0))
      }
    }

    // MARK: Shutdown

    @Test func aShutdownWaitsForTheEnd() async throws {
      try await onTerminal { probe, logind, terminal in
        try await logind.tell("shutdown")
        try await probe.log.line(startingWith: "release begin")
        #expect(try await logind.openInhibitors() == "open: 1")
        try probe.gate.open()
        try await probe.isNotRunning()
        try await logind.log.line(startingWith: "inhibitor released, open: 0")
        probe.expectRecords(.launch(), .leave("shutdown"), .terminate("shutdown"))
      }
    }

    @Test func aSleepingProgramEndsInFullOrderAtAShutdown() async throws {
      try await onTerminal { probe, logind, terminal in
        try probe.gate.open()
        try await logind.tell("sleep")
        try await logind.log.line(startingWith: "inhibitor released, open: 0")
        try await logind.tell("shutdown")
        try await probe.isNotRunning()
        probe.expectRecords(.launch(), .leave("sleep"), .suspend("sleep"), .wake("shutdown"), .terminate("shutdown"))
      }
    }

    // MARK: What is not there, or goes

    @Test func withoutABusTheProgramRuns() async throws {
      try await ProbeSession.run("ServiceProbe") { probe in
        async let finished = runProgram(
          probe.arguments(), environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(probe.directory.file("nobody"))"])
        try await probe.log.line(startingWith: "acquire end")
        try probe.signal(SIGHUP)
        try await probe.log.line(startingWith: "session not available: the system bus: No such file or directory")
        try probe.signal(SIGTERM)
        #expect(try await finished.ending == .exited(0))
        #expect(try await finished.errors == "")
      }
    }

    @Test func anInhibitorThatIsRefusedIsSaidAndTheSleepToldAllTheSame() async throws {
      try await withLogind("ServiceProbe", telling: ["session", "refuse"]) { probe, logind in
        async let finished = runProgram(
          probe.arguments(), environment: ["DBUS_SYSTEM_BUS_ADDRESS": logind.address])
        try await logind.log.line(startingWith: "inhibitor refused")
        try await logind.tell("sleep")
        try await probe.log.line(startingWith: "state suspended")
        try await logind.tell("wake")
        try await probe.log.line(startingWith: "state background background wake-up")
        try probe.signal(SIGHUP)
        try await probe.log.line(startingWith: "session available: logind; no inhibitor: ")
        try probe.signal(SIGTERM)
        #expect(try await finished.ending == .exited(0))
        probe.expectRecords(
          .launchInBackground("launch"), .suspend("sleep"), .wake("wake-up"), .terminate("SIGTERM"))
      }
    }

    /// No signal would tell of the waking.
    @Test(arguments: [true, false]) func aBusThatVanishesEndsASleep(duringTearDown: Bool) async throws {
      try await onTerminal { probe, logind, terminal in
        if !duringTearDown { try probe.gate.open() }
        try await logind.tell("sleep")
        try await probe.log.line(startingWith: duringTearDown ? "release begin" : "state suspended")
        await logind.vanish()
        if duringTearDown { try probe.gate.open() }
        try await probe.isActive(visit: 2, on: terminal)

        // And when it is there again, all is as before.
        try await logind.start(telling: ["session"])
        try await logind.log.line(startingWith: "inhibitor taken")
        try probe.gate.open()
        try await logind.tell("sleep")
        try await logind.log.line(startingWith: "inhibitor released, open: 0")
        try await logind.tell("wake")
        try await probe.isActive(visit: 3, on: terminal)
        try await quit(probe, terminal)
      }
    }

    @Test func aLogindThatGoesAndComesIsFollowed() async throws {
      try await onTerminal { probe, logind, terminal in
        try await logind.tell("leave")
        try await logind.log.line(startingWith: "inhibitor released, open: 0")
        try await logind.tell("come")
        try await logind.log.line(startingWith: "inhibitor taken")
        try probe.gate.open()
        try await logind.tell("sleep")
        try await probe.log.line(startingWith: "state suspended")
        try await logind.tell("leave")
        try await probe.isActive(visit: 2, on: terminal)
        try await quit(probe, terminal)
      }
    }
  }

  extension PseudoTerminal {
    /// Waits until the program has read what was typed: the kernel takes a moment to hand it over.
    fileprivate func inputIsRead(within limit: Duration = .seconds(30)) async throws {
      let device = open(slave, O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
      defer { close(device) }
      let start = ContinuousClock.now
      var count: Int32 = 0
      try await Task.sleep(for: .milliseconds(2))
      repeat {
        guard ContinuousClock.now - start < limit else {
          throw WaitFailed(cause: .deadline(limit), wanted: "the reads", found: "\(count) bytes")
        }
        await Task.yield()
      } while ioctl(device, UInt(FIONREAD), &count) == 0 && count > 0
    }
  }
#endif
