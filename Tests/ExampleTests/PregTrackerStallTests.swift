import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// A terminal that takes nothing: the program ends all the same, and leaves the terminal in order if it takes that in time.
@Suite(.serialized, .timeLimit(.hang)) struct PregTrackerStallTests {
  /// How long the program may take from the order to its end: both budgets and a second.
  private static let limit: Duration = .seconds(11)
  /// How much later the end may be seen on a machine that is busy with other tests.
  private static let slack: Duration = .seconds(20)

  /// What the program has to say on standard error when it ends.
  enum Report: String, CaseIterable { case none, state, journal }

  @Test(
    .longRunning, arguments: [SIGTERM, SIGHUP, SIGQUIT], Report.allCases
  )
  func `A terminal that is never read does not keep it from ending`(signal: Int32, report: Report) async throws {
    try await TrackerSession.run { tracker in
      let arguments = tracker.arguments(
        state: report == .state ? "/proc/state" : nil, journal: report == .journal ? "/proc/runs.jsonl" : nil)
      // No core file of an end by SIGQUIT.
      let limited = ["sh", "-c", "ulimit -c 0; exec \"$@\"", "-"] + arguments
      try await PseudoTerminal.run(limited, rows: 30, columns: 100) { terminal in
        try await tracker.isActive(on: terminal)
        try await terminal.pauseReading()
        for round in 0..<200 { terminal.resize(rows: 30, columns: 100 - round % 2) }
        try terminal.fill()
        terminal.child.signal(signal)
        let ending = try await terminal.child.ending(within: Self.limit + Self.slack)
        #expect(ending == (signal == SIGQUIT ? .killed(SIGQUIT) : .exited(EX_IOERR)))
        #expect(terminal.modes == terminal.initialModes)
      }
      if signal != SIGQUIT, report == .none {
        try await tracker.expectOrderlyEnd(date: TrackerSession.commandLineDate)
      }
    }
  }

  enum Order: String, CaseIterable { case key, signal }

  /// In milliseconds; the long ones take a minute and a half, and are part of the run with `STALLS=all` in the environment.
  static let pauses: [Int] = {
    let all = [50, 250, 1_000, 3_000, 8_000, 30_000]
    if getenv("STALLS").map({ String(cString: $0) }) == "all" { return all }
    let chosen = [50, 250, 3_000]
    print("stalls of \(all.filter { !chosen.contains($0) }) ms are left out; STALLS=all has them")
    return chosen
  }()

  @Test(.longRunning, arguments: pauses, Order.allCases)
  func `What the terminal takes in time arrives whole`(pause: Int, order: Order) async throws {
    let pause = Duration.milliseconds(pause)
    try await TrackerSession.run { tracker in
      try await PseudoTerminal.run(tracker.arguments(), rows: 30, columns: 100) { terminal in
        try await tracker.isActive(on: terminal)
        try await tracker.setDate(on: terminal)
        try await terminal.pauseReading()
        try terminal.fill()
        terminal.resumeReading(after: pause)
        if order == .key { terminal.send("q") } else { terminal.child.signal(SIGTERM) }
        let ending = try await terminal.child.ending(within: Self.limit + Self.slack)
        #expect(terminal.modes == terminal.initialModes)
        if pause < Self.limit {
          #expect(ending == .exited(0))
          try await terminal.outputHasEnded()
          #expect(terminal.screen.isLeft)
        } else {
          #expect(ending == .exited(EX_IOERR))
        }
      }
      try await tracker.expectOrderlyEnd()
    }
  }

  @Test(.longRunning, arguments: Shell.allCases, [250, 3_000])
  func `In a shell, too, with its prompt afterwards`(shell: Shell, pause: Int) async throws {
    try shell.isInstalledOrCancel()
    try await TrackerSession.run { tracker in
      try await shell.run(rows: 30, columns: 100) { terminal in
        let before = try await terminal.stateForPrograms()
        terminal.line(tracker.command)
        try await tracker.isActive(on: terminal)
        try await tracker.setDate(on: terminal)
        try await terminal.pauseReading()
        try terminal.fill()
        terminal.resumeReading(after: .milliseconds(pause))
        terminal.send("q")
        let printed = try await terminal.prompt(within: Self.limit + Self.slack)
        #expect(printed.contains("\u{1B}[?1049l"))
        #expect(try await terminal.status(in: shell) == 0)
        #expect(try await terminal.stateForPrograms() == before)
        #expect(terminal.screen.isLeft)
      }
      try await tracker.expectOrderlyEnd()
    }
  }

  /// A stall that passes while the program goes on: it draws what was lost.
  @Test func `After a stall the screen is drawn again`() async throws {
    try await TrackerSession.run { tracker in
      try await PseudoTerminal.run(tracker.arguments(), rows: 30, columns: 100) { terminal in
        try await tracker.isActive(on: terminal)
        try await terminal.pauseReading()
        try terminal.fill()
        terminal.send("d\(TrackerSession.typedDate)\r")
        terminal.resumeReading(after: .milliseconds(50))
        try await terminal.waitForScreen("the date as set") { $0.lines.contains("Due  \(TrackerSession.typedDate)") }
        terminal.send("q")
        #expect(try await terminal.child.ending() == .exited(0))
        try await terminal.outputHasEnded()
        #expect(terminal.screen.isLeft && terminal.modes == terminal.initialModes)
      }
      try await tracker.expectOrderlyEnd()
    }
  }
}
