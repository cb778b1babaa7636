import AppLifecycle
import Glibc
import PseudoTerminal
import TestTraits
import Testing

@testable import UnixHost

/// What the machine does to a program, done to a real one: memory, wall clock, time zone, and gaps in time.
@Suite(.serialized, .timeLimit(.hang)) struct SystemFactTests {
  private let warning = "delegate applicationDidReceiveMemoryWarning background memory pressure"

  /// Runs the service probe until the body is done, and ends it.
  private func withProbe(
    _ options: [String] = [], environment: [String: String] = [:], before: [String] = [],
    body: (ProbeSession) async throws -> Void
  ) async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      async let finished = runProgram(before + probe.arguments() + options, environment: environment)
      try await probe.log.line(startingWith: "acquire end")
      try await body(probe)
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
    }
  }

  private func capability(_ name: String, of probe: ProbeSession) throws -> String {
    let line = try #require(probe.log.lines.first { $0.hasPrefix("\(name) ") })
    return String(line.dropFirst(name.count + 1))
  }

  /// Lets real time pass, by waiting for a program that lasts so long.
  private func pass(seconds: Int) async throws { _ = try await runProgram(["sleep", "\(seconds)"]) }

  /// Ends a test that this machine cannot do, and says why.
  private func cannot(_ reason: String) throws -> Never {
    print("skipped: \(reason)")
    try Test.cancel("\(reason)")
  }

  // MARK: Memory

  @Test func aNamedPipeSaysThatMemoryIsShort() async throws {
    try await withTemporaryDirectory { directory in
      let pipe = try Gate(directory.file("pressure"))
      try await withProbe(environment: ["MEMORY_PRESSURE_WATCH": pipe.path]) { probe in
        #expect(try capability("memory", of: probe) == "available: \(pipe.path) (pipe)")
        // As many as fit: one warning, and one more when its interval is over.
        try pipe.open(1000)
        try await probe.log.line(startingWith: warning)
        try pipe.open(1000)
        try await probe.log.line(startingWith: warning)
        #expect(probe.log.lines.count { $0 == warning } == 2)
      }
    }
  }

  @Test func aSocketIsToldWhatItWantsAndSaysThatMemoryIsShort() async throws {
    try await withTemporaryDirectory { directory in
      let server = try StreamServer(directory.file("pressure"))
      let variables = ["MEMORY_PRESSURE_WATCH": server.path, "MEMORY_PRESSURE_WRITE": "c29tZSAyMDAwMDA="]
      try await withProbe(environment: variables) { probe in
        #expect(try capability("memory", of: probe) == "available: \(server.path) (socket)")
        #expect(try await server.received(11) == Array("some 200000".utf8))
        try server.send("x")
        try await probe.log.line(startingWith: warning)
        // The other side goes: that is no warning, and no reason to turn in a circle.
        server.closeConnection()
      }
    }
  }

  @Test func aPressureFileIsArmed() async throws {
    try await withTemporaryDirectory { directory in
      try directory.write("", to: "pressure")
      let path = directory.file("pressure")
      let variables = ["MEMORY_PRESSURE_WATCH": path, "MEMORY_PRESSURE_WRITE": "c29tZSAyMDAwMDAgMjAwMDAwMAA="]
      try await withProbe(environment: variables) { probe in
        let (found, written) = (try capability("memory", of: probe), try readFile(path))
        #expect(found == "available: \(path)")
        #expect(written == "some 200000 2000000\0")
      }
    }
  }

  @Test(arguments: [
    ("/dev/null", "", "$MEMORY_PRESSURE_WATCH is /dev/null, which turns the watch off"),
    ("/nonexistent/file", "", "/nonexistent/file: No such file or directory"),
    ("relative", "", "relative: not an absolute path"),
    ("/dev/zero", "", "/dev/zero: neither a file nor a pipe nor a socket"),
    ("/dev/null/", "", "/dev/null/: Not a directory"), ("/etc/passwd", "?", "$MEMORY_PRESSURE_WRITE is not Base64"),
  ])
  func whatCannotBeWatchedIsSaid(path: String, bytes: String, reason: String) async throws {
    try await withProbe(environment: ["MEMORY_PRESSURE_WATCH": path, "MEMORY_PRESSURE_WRITE": bytes]) { probe in
      let found = try capability("memory", of: probe)
      #expect(found == "not available: \(reason)")
    }
  }

  @Test func withoutOrdersTheKernelsOwnFileIsWatched() async throws {
    try await withProbe { probe in
      let found = try capability("memory", of: probe)
      if access("/proc/pressure/memory", W_OK) != 0 {
        #expect(found.hasPrefix("not available: /proc/pressure/memory: "))
        try cannot("this kernel has no pressure file: \(found)")
      }
      #expect(found == "available: /proc/pressure/memory" || found.contains("Operation not"))
    }
  }

  @Test func aTerminalProgramIsWarnedAsWell() async throws {
    try await withTemporaryDirectory { directory in
      let pipe = try Gate(directory.file("pressure"))
      try await ProbeSession.run { probe in
        let arguments = ["env", "MEMORY_PRESSURE_WATCH=\(pipe.path)"] + probe.arguments()
        try await PseudoTerminal.run(arguments) { terminal in
          try await probe.isActive(visit: 1, on: terminal)
          try pipe.open()
          try await probe.log.line(startingWith: "delegate applicationDidReceiveMemoryWarning active memory pressure")
          terminal.send("q")
          #expect(try await terminal.child.nextEvent() == .exited(0))
        }
      }
    }
  }

  // MARK: Time

  private func changed(_ cause: String) -> String { "delegate applicationSignificantTimeChange background \(cause)" }

  /// A clock that the test sets: 1970 to begin with, each line of a pipe another time and what the timer says.
  @Test func eachChangeOfAFakeClockIsToldOnce() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory.file("clock")
      let pipe = try Gate(path)
      try await withProbe(["--clock", path]) { probe in
        #expect(probe.log.lines.contains("armed 86400"))
        try pipe.write("set 4000\n")
        try await probe.log.line(startingWith: changed("clock set"))
        try pipe.write("reached 86400\n")
        try await probe.log.line(startingWith: "armed 172800")
        try await probe.log.line(startingWith: changed("midnight"))
        // Early, for whatever reason: nothing has changed.
        try pipe.write("reached 86500\n")
        // Set, and with that to another day: one change.
        try pipe.write("set 700000\n")
        try await probe.log.line(startingWith: "armed 777600")
        try await probe.log.line(startingWith: changed("clock set"))
        #expect(probe.log.lines.count { $0.hasPrefix("delegate applicationSignificantTimeChange") } == 3)
      }
    }
  }

  /// By a billionth of a second, and back.
  @Test func theMachinesClockIsSet() async throws {
    try await withProbe { probe in
      #expect(try capability("clock", of: probe) == "available: reported by the kernel")
      do { try shiftClock(nanoseconds: 1) } catch { try cannot("the clock cannot be set: \(error)") }
      try shiftClock(nanoseconds: -1)
      try await probe.log.line(startingWith: changed("clock set"))
    }
  }

  /// Midnight comes soon in a zone made for the test; if the probe is launched too late for it, in another one later.
  @Test func midnightPasses() async throws {
    for lead in [3, 6, 12, 24, 48] where try await passesMidnight(in: lead) { return }
    Issue.record("the probe was never launched before midnight")
  }

  /// False if midnight had come before the launch.
  private func passesMidnight(in lead: Int) async throws -> Bool {
    let midnight = time(nil) + lead
    // So many seconds after Greenwich's midnight the local one comes.
    let west = midnight % 86_400
    let zone = "HERE\(west / 3600):\(west / 60 % 60):\(west % 60)"
    var isInTime = false
    try await withProbe(environment: ["TZ": zone]) { probe in
      #expect(try capability("zone", of: probe) == "not available: TZ is set, so the time zone does not change")
      isInTime = time(nil) < midnight
      if isInTime { try await probe.log.line(startingWith: changed("midnight"), within: .seconds(90)) }
    }
    return isInTime
  }

  /// In a mount name space of its own, where `/etc` is the test's.
  @Test func theTimeZoneChanges() async throws {
    try await withTemporaryDirectory { directory in
      let etc = "\(directory.path)/etc"
      mkdir(etc, 0o755)
      try directory.write("TZif2 of one zone", to: "etc/localtime")
      let unshare = ["unshare", "--mount", "sh", "-c", "mount --bind '\(etc)' /etc && exec \"$@\"", "-"]
      let attempt = try await runProgram(unshare + ["true"])
      guard attempt.ending == .exited(0) else { try cannot("no mount name space: \(attempt.errors)") }
      try await withProbe(before: unshare) { probe in
        #expect(try capability("zone", of: probe) == "available: /etc/localtime")
        // The same rules once more are no change.
        try directory.write("TZif2 of one zone", to: "etc/new")
        #expect(rename("\(etc)/new", "\(etc)/localtime") == 0)
        try directory.write("TZif2 of another zone", to: "etc/new")
        #expect(rename("\(etc)/new", "\(etc)/localtime") == 0)
        try await probe.log.line(startingWith: changed("time zone"))
        #expect(unlink("\(etc)/localtime") == 0)
        try await probe.log.line(startingWith: changed("time zone"))
        #expect(probe.log.lines.count { $0 == changed("time zone") } == 2)
      }
    }
  }

  // MARK: Gaps

  /// Waits until the thread of the host waits for events.
  private func hostWaits(in pid: Int32) async throws {
    while true {
      for thread in try fileNames(in: "/proc/\(pid)/task") {
        guard let status = try? readFile("/proc/\(pid)/task/\(thread)/status") else { continue }
        if status.contains("lifecycle host"), status.contains("State:\tS") { return }
      }
      try Task.checkCancellation()
    }
  }

  /// The milliseconds that the probe says it was suspended.
  private func suspension(by agent: String, of probe: ProbeSession) async throws -> Int {
    let line = try await probe.log.line(startingWith: "suspended by \(agent) for ")
    return try #require(Int(line.split(separator: " ")[4]))
  }

  @Test func aSignalStopsIt() async throws {
    try await withProbe { probe in
      try probe.signal(SIGSTOP)
      await ProcessTable.stopping(of: try probe.pid())
      try await pass(seconds: 3)
      try probe.signal(SIGCONT)
      #expect(try await suspension(by: "stopSignal", of: probe) >= 3000)
      // A SIGCONT for a program that runs is no news.
      try probe.signal(SIGCONT)
      try probe.signal(SIGHUP)
      try await probe.log.line(startingWith: "reload end")
      #expect(probe.log.lines.count { $0.hasPrefix("suspended") } == 1)
    }
  }

  @Test func aSignalStopsATerminalProgram() async throws {
    try await ProbeSession.run { probe in
      try await PseudoTerminal.run(probe.arguments()) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        terminal.child.signal(SIGSTOP)
        #expect(try await terminal.child.nextEvent() == .stopped(SIGSTOP))
        try await pass(seconds: 3)
        terminal.child.signal(SIGCONT)
        #expect(try await suspension(by: "stopSignal", of: probe) >= 3000)
        terminal.send("q")
        #expect(try await terminal.child.ending() == .exited(0))
      }
    }
  }

  /// A stop that the application was told about is not told again.
  @Test func aStopOfItsOwnIsNoNews() async throws {
    try await ProbeSession.run { probe in
      try await Shell.bash.run { terminal in
        try await probe.launch(on: terminal)
        try await terminal.stopJob(in: .bash)
        try await pass(seconds: 3)
        try await probe.comeBack(visit: 2, on: terminal)
        try await probe.quit(on: terminal)
      }
      #expect(!probe.log.lines.contains { $0.hasPrefix("suspended") })
    }
  }

  @Test(arguments: Freezer.Version.allCases) func aFrozenProgramSaysSoAfterwards(version: Freezer.Version) async throws
  {
    let freezer: Freezer
    do { freezer = try Freezer(version) } catch { try cannot("\(version) cannot be used: \(error)") }
    defer { freezer.remove() }
    try await ProbeSession.run("ServiceProbe") { probe in
      async let finished = runProgram(probe.arguments())
      try await probe.log.line(startingWith: "acquire end")
      // Of a gap while the thread is at work nothing is said: the work may be the reason.
      try await hostWaits(in: try probe.pid())
      try freezer.take(try probe.pid())
      try freezer.setFrozen(true)
      try await pass(seconds: 4)
      try freezer.setFrozen(false)
      #expect(try await suspension(by: "frozenOrPaused", of: probe) >= 3000)
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
    }
  }

  @Test func theMachineSleeps() throws {
    try cannot("putting the machine to sleep would stop the test with it; WatchTests has the arithmetic")
  }
}
