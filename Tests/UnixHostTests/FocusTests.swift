import PseudoTerminal
import TestTraits
import Testing

/// Focus reports, as the bytes that a terminal sends.
@Suite(.serialized, .timeLimit(.hang)) struct FocusTests {
  private let focusIn = "\u{1B}[I"
  private let focusOut = "\u{1B}[O"

  private func withActiveProbe(_ body: (ProbeSession, PseudoTerminal) async throws -> Void) async throws {
    try await Shell.dash.runProbe { probe, terminal in
      try await probe.launch(on: terminal)
      try await body(probe, terminal)
    }
  }

  @Test func losingItResignsAndGettingItBackActivates() async throws {
    try await withActiveProbe { probe, terminal in
      terminal.send(focusOut)
      try await probe.log.line(startingWith: "state inactive inactive focus")
      terminal.send(focusIn)
      try await probe.log.line(startingWith: "notification UIApplicationDidBecomeActiveNotification active focus")
      try await probe.quit(on: terminal)
      // A report is no input.
      #expect(probe.log.lines.filter { $0.hasPrefix("input") } == ["input 71"])
      probe.expectRecords(.launch(), .resign("focus"), .activate("focus"), .quit("q"))
    }
  }

  @Test func repeatedReportsSayNothingNew() async throws {
    try await withActiveProbe { probe, terminal in
      terminal.send(focusIn + focusIn + focusOut + focusOut + focusIn + focusIn)
      try await probe.quit(on: terminal)
      probe.expectRecords(.launch(), .resign("focus"), .activate("focus"), .quit("q"))
    }
  }

  @Test func insideAPasteNothingIsAReport() async throws {
    try await withActiveProbe { probe, terminal in
      terminal.send("\u{1B}[200~a\(focusOut)b\u{1B}[201~")
      try await probe.log.line("end of the paste") { $0.hasSuffix("1B5B3230317E") }
      try await probe.quit(on: terminal)
      #expect(probe.input == "1B5B3230307E61" + "1B5B4F" + "62" + "1B5B3230317E" + "71")
      probe.expectRecords(.launch(), .quit("q"))
    }
  }

  /// A report's letters may also end other sequences; those are keys.
  @Test func otherSequencesAreKeys() async throws {
    try await withActiveProbe { probe, terminal in
      terminal.send("\u{1B}OI\u{1B}[1;2O\u{1B}[Z")
      // A mouse press of the old kind: three bytes of any value follow.
      terminal.send("\u{1B}[M O!")
      try await probe.log.line("mouse press") { $0.hasSuffix("1B5B4D204F21") }
      try await probe.quit(on: terminal)
      #expect(probe.input == "1B4F49" + "1B5B313B324F" + "1B5B5A" + "1B5B4D204F21" + "71")
      probe.expectRecords(.launch(), .quit("q"))
    }
  }

  @Test func aLoneEscapeIsAKey() async throws {
    try await withActiveProbe { probe, terminal in
      terminal.send("\u{1B}")
      try await probe.log.line(startingWith: "input 1B")
      try await probe.quit(on: terminal)
      #expect(probe.log.lines.filter { $0.hasPrefix("input") } == ["input 1B", "input 71"])
    }
  }

  /// A screen that is left forgets whether it had the focus; the next one is assumed to have it.
  @Test func onReturnTheFocusIsAssumed() async throws {
    try await withActiveProbe { probe, terminal in
      terminal.send(focusOut)
      try await probe.log.line(startingWith: "state inactive inactive focus")
      try await terminal.stopJob(in: .dash)
      try await probe.comeBack(visit: 2, on: terminal)
      try await probe.quit(on: terminal)
      probe.expectRecords(
        .launch(), .resign("focus"), .enterBackground("Ctrl-Z"), .suspend("Ctrl-Z"), .wake("fg"), .comeBack("fg"),
        .quit("q"))
    }
  }

  /// A report that has come when the program leaves must not appear at the shell's prompt.
  ///
  /// One that comes later cannot be told from what the user types for the shell.
  @Test func noReportReachesTheShell() async throws {
    try await Shell.dash.runProbe { probe, terminal in
      try await probe.launch(probe.gateOptions, on: terminal)
      terminal.send(focusOut + "\u{1A}")
      try await probe.log.line(startingWith: "release begin")
      // They are switched off before the tear-down, which may take its time.
      try await terminal.waitForScreen("no focus reports") { !$0.modes.contains(1004) }
      try probe.gate.open()
      try await terminal.jobHasStopped(in: .dash)
      terminal.line("echo done")
      let printed = try await terminal.prompt()
      #expect(printed == "echo done\r\ndone\r\n")
    }
  }
}
