import Glibc
import PseudoTerminal
import PubSub
import TestTraits
import Testing
import UnixHost

@testable import PregTracker

/// Ctrl-C while a date is being typed: the user is asked.
@Suite(.serialized, .timeLimit(.hang)) struct PregTrackerQuitTests {
  private static let question = "Quit? This date is not set."

  /// Runs the program with a date that is typed and not set.
  private func typing(
    _ body: (TrackerSession, PseudoTerminal) async throws -> Void
  ) async throws {
    try await TrackerSession.run { tracker in
      try await PseudoTerminal.run(tracker.arguments(), rows: 30, columns: 100) { terminal in
        try await tracker.isActive(on: terminal)
        terminal.send("d2027-04")
        try await terminal.waitForScreen(containing: "Due  2027-04")
        try await body(tracker, terminal)
        try await terminal.outputHasEnded()
        #expect(terminal.screen.isLeft && terminal.modes == terminal.initialModes)
      }
      try await tracker.expectOrderlyEnd(date: TrackerSession.commandLineDate)
    }
  }

  private func isAsked(on terminal: PseudoTerminal) async throws {
    try await terminal.waitForScreen("the question", within: .seconds(60)) { $0.lines.contains(Self.question) }
    #expect(terminal.screen.showsAlternate)
  }

  private func goesOn(on terminal: PseudoTerminal) async throws {
    try await terminal.waitForScreen("the editor", within: .seconds(60)) {
      !$0.lines.contains(Self.question) && $0.lines.contains { $0.hasPrefix("Due  2027-04") }
    }
  }

  @Test func `is asked again after each answer, and agrees`() async throws {
    try await typing { _, terminal in
      for _ in 1...2 {
        terminal.control("C")
        try await isAsked(on: terminal)
        terminal.send("n")
        try await goesOn(on: terminal)
      }
      terminal.control("C")
      try await isAsked(on: terminal)
      terminal.send("y")
      #expect(try await terminal.child.ending() == .exited(0))
    }
  }

  @Test(arguments: [SIGTERM, SIGHUP]) func `a signal that is sent while the question is open ends it in order`(
    signal: Int32
  ) async throws {
    try await typing { _, terminal in
      terminal.control("C")
      try await isAsked(on: terminal)
      terminal.child.signal(signal)
      #expect(try await terminal.child.ending() == .exited(0))
    }
  }

  @Test func `a second Ctrl-C while the question is open ends it in order`() async throws {
    try await typing { _, terminal in
      terminal.control("C")
      try await isAsked(on: terminal)
      try await copiesHaveCome(since: .now)
      terminal.control("C")
      #expect(try await terminal.child.ending() == .exited(0))
    }
  }

  @Test func `Ctrl-Z and fg find the question as it was`() async throws {
    try await TrackerSession.run { tracker in
      try await Shell.bash.run(rows: 30, columns: 100) { terminal in
        terminal.line(tracker.command)
        try await tracker.isActive(on: terminal)
        terminal.send("d2027-04")
        try await terminal.waitForScreen(containing: "Due  2027-04")
        terminal.control("C")
        try await isAsked(on: terminal)
        terminal.control("Z")
        try await terminal.jobStops(in: .bash)
        terminal.line("fg")
        try await tracker.isActive(visit: 2, on: terminal)
        try await isAsked(on: terminal)
        terminal.send("y")
        try await terminal.prompt(within: .seconds(60))
        #expect(try await terminal.status(in: .bash) == 0)
      }
      try await tracker.expectOrderlyEnd(date: TrackerSession.commandLineDate)
    }
  }

  @Test func `nothing is asked where nothing would be lost`() async throws {
    try await TrackerSession.run { tracker in
      try await PseudoTerminal.run(tracker.arguments(), rows: 30, columns: 100) { terminal in
        try await tracker.isActive(on: terminal)
        try await tracker.setDate(on: terminal)
        terminal.control("C")
        #expect(try await terminal.child.ending() == .exited(0))
        try await terminal.outputHasEnded()
        #expect(!terminal.text.contains(Self.question))
      }
      try await tracker.expectOrderlyEnd()
    }
  }

  @Test func `the question has keys of its own`() {
    var interaction = Interaction()
    func press(_ keys: Terminal.Key...) -> [Interaction.Command?] { keys.map { interaction.press($0) } }
    func isAsked() -> Bool { interaction.askToQuit() }
    #expect(!isAsked())
    _ = press("d")
    #expect(!isAsked())
    _ = press("2")
    let editing = interaction.mode
    #expect(isAsked() && interaction.mode != editing)
    #expect(press("x", .enter, .paste("y"), .control("l")) == [nil, nil, nil, .redraw])
    #expect(press("n") == [.answer(false)] && interaction.mode == editing)
    #expect(isAsked() && press(.escape) == [.answer(false)] && interaction.mode == editing)
    #expect(isAsked() && press("y") == [.answer(true)])
  }
}
