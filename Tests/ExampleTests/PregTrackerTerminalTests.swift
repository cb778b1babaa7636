import Foundation
import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// The program as a user has it: in a terminal, under a shell with job control.
@Suite(.timeLimit(.hang)) struct PregTrackerTerminalTests {
  private static let label142 = "Day 142 of 280 · week 20+2 · second trimester · 138 days to go"
  private static let label143 = "Day 143 of 280 · week 20+3 · second trimester · 137 days to go"

  /// The program under bash, with a calendar, a directory for state and a tips server of the test's own.
  private struct Setting {
    let terminal: PseudoTerminal
    let directory: TemporaryDirectory
    let server: LineServer

    func start(_ options: String = "--due 2026-06-25") {
      let files = "--state \(directory.file("state")) --today-file \(directory.file("today"))"
      terminal.line("\(builtProduct("PregTracker")) \(files) --tips 127.0.0.1:\(server.port) \(options)")
    }

    var savedDate: String? { trackerDate(in: directory.file("state")) }

    /// Waits for the program to have ended and given the terminal back.
    func ended(status: Int32 = 0) async throws {
      try await terminal.prompt()
      #expect(try await terminal.status(in: .bash) == status)
      try await isRestored()
    }

    /// The terminal is as the shell's commands want it; at its prompt the shell's line editor has modes of its own.
    func isRestored() async throws {
      terminal.line("stty -a")
      let modes = try await terminal.prompt().split { $0.isWhitespace || $0 == ";" }
      #expect(["icanon", "echo", "isig", "opost"].allSatisfy { modes.contains(Substring($0)) })
      #expect(!terminal.screen.showsAlternate && terminal.screen.showsCursor)
    }
  }

  private func run(
    rows: Int = 24, columns: Int = 80, today: String = "2026-02-07", _ body: (Setting) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(today, to: "today")
      try await LineServer.run { server in
        try await Shell.bash.run(rows: rows, columns: columns) { terminal in
          try await body(Setting(terminal: terminal, directory: directory, server: server))
        }
      }
    }
  }

  @Test(arguments: [false, true])
  func `Ctrl-Z and fg a day later: the table, the connection, and the label, which is stale without its subscription`(
    stale: Bool
  ) async throws {
    try await run { setting in
      let (terminal, server) = (setting.terminal, setting.server)
      setting.start("--due 2026-06-25" + (stale ? " --stale" : ""))
      let first = try await server.nextConnection()
      first.send("Rest well.")
      try await terminal.waitForScreen("label and tip") { $0.contains(Self.label142) && $0.contains("Tip  Rest well.") }

      terminal.control("Z")
      try await first.closed()
      try await terminal.prompt()
      try await setting.isRestored()
      #expect(server.connectionCount == 1)

      try setting.directory.write("2026-02-08", to: "today")
      terminal.line("fg")
      let second = try await server.nextConnection()
      second.send("Walk a little.")
      let screen = try await terminal.waitForScreen("all after the return") {
        $0.contains("Tip  Walk a little.") && $0.lines.count { $0.hasPrefix("didBecomeActive") } == 2
      }
      #expect(screen.contains(stale ? Self.label142 : Self.label143))
      #expect(screen.contains(stale ? Self.label143 : Self.label142) == false)
      let rows = screen.lines.drop { !$0.hasPrefix("Event") }.dropFirst().prefix { !$0.isEmpty }
        .map { $0.split(separator: " ") }
      #expect(
        rows.map { $0.prefix(2).joined(separator: " ") } == [
          "didFinishLaunching inactive", "didBecomeActive active", "willResignActive active",
          "didEnterBackground background", "willEnterForeground background", "didBecomeActive active",
        ])
      #expect(rows.allSatisfy { $0.count == 3 && $0[2].wholeMatch(of: /\d\d:\d\d:\d\d/) != nil })

      terminal.send("q")
      try await second.closed()
      try await setting.ended()
    }
  }

  @Test func `SIGTERM while active saves the due date, restores the terminal and ends with status 0`() async throws {
    try await run { setting in
      let start = ContinuousClock.now
      setting.start()
      try await setting.terminal.waitForScreen(containing: Self.label142)
      let group = try #require(setting.terminal.foregroundGroup)
      // Nothing else saves the date, but the program itself thirty seconds after its change.
      let saved = setting.savedDate
      #expect(saved == nil || .now - start >= .seconds(30))
      kill(group, SIGTERM)
      try await setting.ended()
      #expect(setting.savedDate == "2026-06-25")
    }
  }

  @Test func `SIGTERM while stopped ends it in order on continuing`() async throws {
    try await run { setting in
      setting.start()
      try await setting.terminal.waitForScreen(containing: Self.label142)
      let group = try #require(setting.terminal.foregroundGroup)
      setting.terminal.control("Z")
      try await setting.terminal.prompt()
      #expect(setting.savedDate == "2026-06-25")
      // It waits, as a stopped process hears nothing, until the shell continues the job.
      kill(group, SIGTERM)
      setting.terminal.line("fg")
      try await setting.ended()
    }
  }

  @Test func `Keys set the due date in a line of the screen, and a malformed one names itself`() async throws {
    try await run { setting in
      let terminal = setting.terminal
      setting.start("")
      try await terminal.waitForScreen(containing: "No due date yet")
      terminal.send("d2026-02-30\r")
      try await terminal.waitForScreen(containing: "“2026-02-30” is not a day of the calendar")
      // Nothing blocks meanwhile: the program can be left and found again with the line as it was.
      terminal.control("Z")
      try await terminal.prompt()
      terminal.line("fg")
      try await terminal.waitForScreen(containing: "“2026-02-30” is not a day of the calendar")
      terminal.send("\u{15}2026-06-25\r")
      try await terminal.waitForScreen("the label and the date") {
        $0.contains(Self.label142) && $0.contains("Due  2026-06-25")
      }
      terminal.send("q")
      try await setting.ended()
      #expect(setting.savedDate == "2026-06-25")

      setting.start("")
      try await terminal.waitForScreen(containing: Self.label142)
      terminal.send("q")
      try await setting.ended()
    }
  }

  @Test func `Keys show help, and ask the server for another tip`() async throws {
    try await run { setting in
      let terminal = setting.terminal
      setting.start()
      let connection = try await setting.server.nextConnection()
      try await terminal.waitForScreen(containing: "connected to 127.0.0.1")
      terminal.send("h")
      try await terminal.waitForScreen("help and label") {
        $0.contains("sets the due date") && $0.contains(Self.label142)
      }
      terminal.send("x")
      try await terminal.waitForScreen(containing: "connected to 127.0.0.1")
      terminal.send("t")
      #expect(try await connection.nextLine() == "next")
      connection.send("\u{1B}[2J\u{1B}[31mObey!")
      try await terminal.waitForScreen("a harmless tip") {
        $0.contains("\\u{1B}[31mObey!") && $0.contains(Self.label142)
      }
      terminal.send("q")
      try await setting.ended()
    }
  }

  @Test func `An unreachable server is named and tried again, and found once it is there`() async throws {
    try await run { setting in
      setting.start()
      _ = try await setting.server.nextConnection()
      await setting.server.stop()
      let peer = "127.0.0.1:\(setting.server.port)"
      try await setting.terminal.waitForScreen(containing: "\(peer): Connection refused; trying again in ")
      try await LineServer.run(port: setting.server.port) { server in
        try await server.nextConnection().send("Here again.")
        try await setting.terminal.waitForScreen(containing: "Tip  Here again.")
      }
      setting.terminal.send("q")
      try await setting.ended()
    }
  }

  @Test func `A corrupt state file is reported and kept`() async throws {
    try await run { setting in
      try FileManager.default.createDirectory(
        atPath: setting.directory.file("state"), withIntermediateDirectories: false)
      try setting.directory.write("garbage", to: "state/saved-state")
      setting.start("")
      let screen = try await setting.terminal.waitForScreen(containing: "state was set aside")
      #expect(screen.contains("No due date yet"))
      setting.terminal.send("d2026-06-25\rq")
      try await setting.ended()
      #expect(setting.savedDate == "2026-06-25")
      #expect(try readFile(setting.directory.file("state/saved-state.damaged")) == "garbage")
    }
  }

  @Test func `A due date that cannot be saved is named when the screen is gone`() async throws {
    try await run { setting in
      let terminal = setting.terminal
      setting.start("--due 2026-06-25 --state /proc/state")
      try await terminal.waitForScreen(containing: Self.label142)
      terminal.send("q")
      let output = try await terminal.prompt()
      #expect(output.contains("PregTracker: ") && output.contains("/proc/state"))
      #expect(output.contains("the state is not saved"))
    }
  }

  @Test func `A terminal of any size shows the label, and follows when it is resized`() async throws {
    try await run(rows: 3, columns: 20) { setting in
      let terminal = setting.terminal
      setting.start()
      try await terminal.waitForScreen("three lines") {
        $0.lines == ["Day 142 of 280", "week 20+2", "second trimester …"]
      }
      terminal.resize(rows: 1, columns: 80)
      try await terminal.waitForScreen("one line") { $0.lines == [Self.label142] }
      terminal.resize(rows: 24, columns: 80)
      try await terminal.waitForScreen("everything") {
        $0.contains(Self.label142) && $0.contains("didBecomeActive") && $0.contains("q quit")
      }
      terminal.send("q")
      try await setting.ended()
    }
  }

  @Test func `Started in the background it waits, and is right when it comes to the front`() async throws {
    try await run { setting in
      setting.start("--due 2026-06-25 &")
      try await setting.terminal.prompt()
      try setting.directory.write("2026-02-08", to: "today")
      setting.terminal.line("fg")
      let screen = try await setting.terminal.waitForScreen(containing: "didBecomeActive")
      #expect(screen.contains(Self.label143))
      setting.terminal.send("q")
      try await setting.ended()
    }
  }
}
