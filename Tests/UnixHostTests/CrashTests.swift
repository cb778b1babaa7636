import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// A program that crashes, or does not answer, leaves its terminal in order all the same, and what it had to say can be read.
@Suite(.serialized, .timeLimit(.hang)) struct CrashTests {
  /// Dash changes no modes of its own, so it shows exactly what the program left.
  private func underDash(
    _ options: String = "", environment: [String: String] = ["SWIFT_BACKTRACE": "enable=no"],
    after command: String = ":", body: (ProbeSession, PseudoTerminal) async throws -> Void
  ) async throws {
    try await ProbeSession.run { probe in
      // Many rows: a stack trace must not push what it follows off the screen.
      try await Shell.dash.run(rows: 200, environment: environment, directory: probe.directory.path) { terminal in
        // No core file of a crash that is meant.
        terminal.line("ulimit -c 0; \(command)")
        try await terminal.prompt()
        let before = terminal.modes
        try await probe.launch(options, on: terminal)
        try await body(probe, terminal)
        #expect(terminal.modes == before)
        #expect(terminal.screen.isLeftInOrder())
      }
    }
  }

  @Test(arguments: [("c", "Index out of range"), ("f", "told to trap")])
  func aTrapLeavesTheTerminalInOrder(key: String, message: String) async throws {
    try await underDash { _, terminal in
      terminal.send(key)
      try await terminal.prompt()
      let status = try #require(try await terminal.status(in: .dash))
      #expect([SIGILL, SIGTRAP].contains(status - 128))
      #expect(terminal.screen.contains(message))
    }
  }

  /// A fault whose signal is blocked ends the process without a handler; `p` crashes on a thread of the pool.
  @Test(arguments: ["c", "f", "o", "p"])
  func `A crash leaves the terminal in order also if every signal was blocked at the start`(key: String) async throws {
    try await underDash("--block-signals") { _, terminal in
      terminal.send(key)
      try await terminal.prompt()
      let status = try #require(try await terminal.status(in: .dash))
      #expect([SIGILL, SIGTRAP, SIGSEGV].contains(status - 128))
      if key == "f" { #expect(terminal.screen.contains("told to trap")) }
    }
  }

  /// abort() makes the action the default one after the signal was ignored, and the kernel does so for a fault.
  @Test(arguments: [("&", SIGABRT), ("T", SIGTRAP)])
  func `A crash whose signal was ignored at the start leaves the terminal in order`(key: String, signal: Int32)
    async throws
  {
    try await underDash(after: "trap '' ABRT TRAP") { probe, terminal in
      terminal.send(key)
      try await terminal.prompt()
      #expect(try await terminal.status(in: .dash) == 128 + signal)
    }
  }

  /// Nothing is left of the stack for the handler that restores the terminal: it needs another one.
  @Test func aStackOverflowLeavesTheTerminalInOrder() async throws {
    try await underDash { _, terminal in
      terminal.send("o")
      try await terminal.prompt()
      #expect(try await terminal.status(in: .dash) == 128 + SIGSEGV)
    }
  }

  /// The backtracer runs after the host's own handler, and finds the fault as it was.
  @Test func theBacktracerStillRuns() async throws {
    let environment = ["SWIFT_BACKTRACE": "enable=yes,interactive=no,color=no,output-to=stderr,threads=crashed"]
    try await underDash(environment: environment) { _, terminal in
      terminal.send("c")
      try await terminal.wait(for: "Index out of range")
      try await terminal.wait(for: "TerminalProbe.swift", within: .seconds(60))
      try await terminal.prompt(within: .seconds(60))
      let status = try #require(try await terminal.status(in: .dash))
      #expect([SIGILL, SIGTRAP].contains(status - 128))
    }
  }

  @Test(arguments: [SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP])
  func aFatalSignalFromOutsideLeavesTheTerminalInOrder(signal: Int32) async throws {
    try await underDash { probe, terminal in
      try probe.signal(signal)
      try await terminal.prompt()
      #expect(try await terminal.status(in: .dash) == 128 + signal)
    }
  }

  @Test func aTrapInATearDownLeavesTheTerminalInOrder() async throws {
    try await underDash { probe, terminal in
      terminal.send("C")
      try await probe.log.line(startingWith: "input 43")
      terminal.control("Z")
      try await terminal.prompt()
      #expect(terminal.screen.contains("Index out of range"))
      let status = try #require(try await terminal.status(in: .dash))
      #expect([SIGILL, SIGTRAP].contains(status - 128))
      probe.expectRecords(
        .launch(), .resign("Ctrl-Z"), .line("state background background Ctrl-Z"),
        .line("delegate applicationDidEnterBackground background Ctrl-Z"))
    }
  }

  /// What is written to standard error while the program has its own screen is shown when that is left.
  @Test func messagesAreShownAfterTheScreenWasLeft() async throws {
    try await underDash { probe, terminal in
      terminal.send("e")
      try await probe.log.line(startingWith: "input 65")
      terminal.send("z")
      try await probe.log.line(startingWith: "input 7A")
      #expect(!terminal.text.contains("a message on standard error"))
      try await terminal.stopJob(in: .dash)
      #expect(terminal.screen.contains("a message on standard error"))
      try await probe.comeBack(visit: 2, on: terminal)
      terminal.send("q")
      try await terminal.prompt()
      // Once only.
      #expect(terminal.text.split(separator: "a message on standard error").count == 2)
    }
  }

  /// A program opens its log after the launch, when standard error is captured.
  @Test func aRedirectOfStandardErrorOutlivesTheCapture() async throws {
    try await ProbeSession.run { probe in
      let errors = try LineFile(probe.directory.file("errors"))
      try await Shell.dash.run { terminal in
        try await probe.launch("--errors '\(errors.path)'", on: terminal)
        terminal.send("re")
        try await terminal.stopJob(in: .dash)
        try await probe.comeBack(visit: 2, on: terminal)
        terminal.send("e")
        terminal.send("q")
        try await terminal.prompt()
        #expect(errors.lines == Array(repeating: "a message on standard error", count: 2))
        #expect(!terminal.text.contains("a message on standard error"))
      }
    }
  }

  /// A child of the program has the captured standard error as its own, and may write there later.
  @Test func whatAChildWritesIsShown() async throws {
    try await underDash { probe, terminal in
      terminal.send("s")
      let line = try await probe.log.line(startingWith: "child ")
      let child = try #require(Int32(line.dropFirst("child ".count)))
      try await terminal.stopJob(in: .dash)
      terminal.line("bg")
      try await probe.log.line(startingWith: "state background background bg")
      // The program is in the background, and its screen was left long ago.
      kill(child, SIGUSR1)
      try await terminal.wait(for: "late words of a child")
      try await probe.log.line(startingWith: "child exited with 7")
      try await probe.comeBack(visit: 2, on: terminal)
      terminal.send("q")
      try await terminal.prompt()
      // Once only, both.
      #expect(terminal.text.split(separator: "words of a child").count == 3)
    }
  }

  // MARK: Budgets

  /// An hour: as long as the test is concerned, for ever.
  private static let forever = "3600000"

  @Test func aBlockedMainActorStillStops() async throws {
    try await underDash("--block \(Self.forever) --budget 100") { probe, terminal in
      try await terminal.stopJob(in: .dash)
      #expect(terminal.text.contains("applicationDidEnterBackground overran its budget"))
      #expect(terminal.text.contains("applicationDidEnterBackground blocks the main actor"))
      #expect(terminal.screen.isLeftInOrder())
      try probe.signal(SIGTERM)
      terminal.line("fg")
      try await terminal.wait(for: "applicationWillTerminate overran its budget")
      try await terminal.prompt()
      #expect(try await terminal.status(in: .dash) == 70)
    }
  }

  @Test(arguments: ["--block", "--block-terminate"]) func aBlockedMainActorStillEnds(option: String) async throws {
    try await underDash("\(option) \(Self.forever) --budget 100") { probe, terminal in
      try probe.signal(SIGTERM)
      try await terminal.prompt()
      #expect(terminal.text.contains("overran its budget"))
      #expect(try await terminal.status(in: .dash) == 70)
    }
  }

  @Test func aBlockedMainActorThatComesBackGoesOn() async throws {
    try await underDash("--block-gate gate --budget 100") { probe, terminal in
      try await terminal.stopJob(in: .dash)
      #expect(terminal.text.contains("applicationDidEnterBackground overran its budget"))
      terminal.line("fg")
      // Its host has the terminal again, while its main actor is still where it was.
      try await terminal.waitForScreen("the probe's own") { $0.showsAlternate }
      try probe.gate.open()
      try await probe.isActive(visit: 2, on: terminal)
      // Its next tear-down does not return either, and the end cuts it short.
      terminal.send("q")
      try await terminal.prompt()
      #expect(try await terminal.status(in: .dash) == 70)
      probe.expectRecords(
        .launch(), .leave("Ctrl-Z"), .line("report watchdog:applicationDidEnterBackground background Ctrl-Z"),
        .suspend("Ctrl-Z"), .wake("fg"), .comeBack("fg"), .asked("q"), .resign("q"),
        .line("state background background q"), .line("delegate applicationDidEnterBackground background q"))
    }
  }

  @Test func aReleaseThatNeverEndsIsNamed() async throws {
    try await underDash("--gate gate --budget 100") { probe, terminal in
      try probe.signal(SIGTERM)
      try await terminal.prompt()
      #expect(terminal.text.contains("overran its budget of 0.1 seconds: slow\r\n"))
      #expect(try await terminal.status(in: .dash) == 70)
      #expect(probe.records.contains("report watchdog:slow background SIGTERM"))
      // Its dependency is released in the step of willTerminate, which has a budget of its own.
      #expect(probe.log.lines.contains("base released"))
    }
  }
}
