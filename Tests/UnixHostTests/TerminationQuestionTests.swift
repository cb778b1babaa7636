import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// Real programs in real terminals that are asked whether they may end.
@Suite(.serialized, .timeLimit(.hang)) struct TerminationQuestionTests {
  /// Runs the probe on a terminal; the body ends it, with status 0.
  private func onTerminal(
    _ options: String..., body: (ProbeSession, PseudoTerminal) async throws -> Void
  ) async throws {
    try await ProbeSession.run { probe in
      try await PseudoTerminal.run(probe.arguments() + options, directory: probe.directory.path) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        try await body(probe, terminal)
        #expect(try await terminal.child.nextEvent() == .exited(0))
        try await terminal.outputHasEnded()
        #expect(terminal.modes == terminal.initialModes)
        #expect(terminal.screen.isLeftInOrder())
      }
    }
  }

  /// Waits for the question that the application is asked, and says when that was known.
  @discardableResult private func isAsked(
    _ cause: String, _ probe: ProbeSession
  ) async throws -> ContinuousClock.Instant {
    try await probe.log.line(startingWith: "delegate applicationShouldTerminate active \(cause)")
    return .now
  }

  @Test func aRefusalKeepsTheScreenAndTheSecondControlCDoesNotAsk() async throws {
    try await onTerminal("--refuse") { probe, terminal in
      let raw = terminal.modes
      terminal.control("C")
      let asked = try await isAsked("Ctrl-C", probe)
      try await copiesHaveCome(since: asked)
      #expect(terminal.screen.showsAlternate && terminal.modes == raw)
      terminal.control("C")
      try await probe.isNotRunning()
      probe.expectRecords(.launch(), .asked("Ctrl-C"), .leave("Ctrl-C"), .terminate("Ctrl-C"))
    }
  }

  @Test func anotherKeyAfterTheRefusalMakesTheNextControlCAFirstOne() async throws {
    try await onTerminal("--refuse") { probe, terminal in
      for _ in 1...2 {
        terminal.control("C")
        try await isAsked("Ctrl-C", probe)
        // Each sends what follows it through the same queues, so that the second finds the refusal known.
        for key in ["k", "l"] {
          terminal.send(key)
          try await probe.log.line(startingWith: "input")
        }
      }
      terminal.child.signal(SIGTERM)
      try await probe.isNotRunning()
      probe.expectRecords(
        .launch(), .asked("Ctrl-C"), .asked("Ctrl-C"), .leave("SIGTERM"), .terminate("SIGTERM"))
    }
  }

  @Test func theProgramsOwnKeyAsksAndTheUserAgrees() async throws {
    try await onTerminal("--ask") { probe, terminal in
      terminal.send("q")
      try await terminal.waitForScreen(containing: "really?")
      terminal.send("n")
      try await terminal.waitForScreen("no question") { !$0.text.contains("really?") }
      terminal.send("q")
      try await terminal.waitForScreen(containing: "really?")
      terminal.send("y")
      try await probe.isNotRunning()
      probe.expectRecords(.launch(), .asked("q"), .quit("q"))
    }
  }

  @Test(arguments: [(SIGTERM, "SIGTERM"), (SIGHUP, "SIGHUP"), (SIGINT, "SIGINT")])
  func anAnnouncedEndCancelsTheQuestion(signal: Int32, cause: String) async throws {
    try await onTerminal("--ask") { probe, terminal in
      terminal.control("C")
      let asked = try await isAsked("Ctrl-C", probe)
      try await terminal.waitForScreen(containing: "really?")
      // Wrappers forward Ctrl-C as SIGINT, so this one has to come later.
      if signal == SIGINT { try await copiesHaveCome(since: asked) }
      terminal.child.signal(signal)
      try await probe.log.line(startingWith: "question cancelled")
      try await probe.isNotRunning()
      probe.expectRecords(.launch(), .asked("Ctrl-C"), .leave(cause), .terminate(cause))
    }
  }

  /// The kernel makes a signal of the key, whose handler leaves the screen at once: the question has to be seen all the same.
  @Test func inCookedModeTheScreenIsTakenAgainForTheQuestion() async throws {
    try await onTerminal("--cooked", "--ask") { probe, terminal in
      terminal.control("C")
      try await isAsked("Ctrl-C", probe)
      try await terminal.waitForScreen("the question on the program's screen") {
        $0.showsAlternate && $0.text.contains("really?")
      }
      terminal.line("n")
      try await terminal.waitForScreen("the screen without it") {
        $0.showsAlternate && $0.text.contains("state active") && !$0.text.contains("really?")
      }
      terminal.line("q")
      try await terminal.waitForScreen(containing: "really?")
      terminal.line("y")
    }
  }

  /// The delegate writes its question between the signal, whose handler gives the terminal back, and the next taking.
  @Test func aLineOfTheQuestionIsWrittenWithoutAScreen() async throws {
    try await onTerminal("--plain", "--cooked", "--ask") { probe, terminal in
      try await probe.log.line(startingWith: "display")
      terminal.control("C")
      try await isAsked("Ctrl-C", probe)
      try await probe.log.line(startingWith: "display")
      try await terminal.waitForScreen(containing: "really?")
      terminal.line("y")
      try await terminal.wait(for: "farewell")
      // The delegate has written it, and the handler of the event that follows.
      #expect(terminal.text.ranges(of: "really?").count == 2)
    }
  }

  @Test func inCookedModeTheScreenIsTakenAgainAfterARefusal() async throws {
    try await onTerminal("--cooked", "--refuse") { probe, terminal in
      try await probe.log.line(startingWith: "display")
      terminal.control("C")
      let asked = try await isAsked("Ctrl-C", probe)
      try await probe.log.line(startingWith: "display")
      try await terminal.waitForScreen("the screen") { $0.showsAlternate && $0.text.contains("state active") }
      try await copiesHaveCome(since: asked)
      terminal.control("C")
    }
  }

  @Test func aSignalThatIsToAskAsksAndTheSecondOneDoesNot() async throws {
    try await onTerminal("--refuse", "--ask-at", "SIGTERM") { probe, terminal in
      try await probe.log.line(startingWith: "display")
      terminal.child.signal(SIGTERM)
      let asked = try await isAsked("SIGTERM", probe)
      // Its handler has left the screen.
      try await probe.log.line(startingWith: "display")
      try await copiesHaveCome(since: asked)
      terminal.child.signal(SIGTERM)
      try await probe.isNotRunning()
      probe.expectRecords(.launch(), .asked("SIGTERM"), .leave("SIGTERM"), .terminate("SIGTERM"))
    }
  }
}
