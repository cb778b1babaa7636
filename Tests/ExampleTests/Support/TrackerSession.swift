import Glibc
import PseudoTerminal
import Testing

/// A `PregTracker` with a directory for state and a journal of its own, driven from outside and judged from outside.
struct TrackerSession {
  /// The date that the command line sets.
  static let commandLineDate = "2027-03-01"
  /// The date that ``setDate(on:)`` types.
  static let typedDate = "2027-04-02"

  /// A directory of its own, removed after the test.
  let directory: TemporaryDirectory
  var state: String { directory.file("state") }
  var journal: String { directory.file("runs.jsonl") }

  /// Runs `body` with a session, and removes its files afterwards.
  static func run<Result>(_ body: (TrackerSession) async throws -> Result) async throws -> Result {
    try await withTemporaryDirectory { try await body(TrackerSession(directory: $0)) }
  }

  /// The program's command line, as arguments.
  func arguments(state: String? = nil, journal: String? = nil) -> [String] {
    [builtProduct("PregTracker"), "--due", Self.commandLineDate, "--state", state ?? self.state]
      + ["--journal", journal ?? self.journal, "--tips", "127.0.0.1:1"]
  }

  /// The program's command line, as a shell reads it.
  var command: String { arguments().map { $0.contains("/") ? "'\($0)'" : $0 }.joined(separator: " ") }

  /// Waits until the program is active for the nth time and has drawn that.
  @discardableResult func isActive(visit: Int = 1, on terminal: PseudoTerminal) async throws -> TerminalScreen {
    try await terminal.waitForScreen("the program's screen, visit \(visit)", within: .seconds(60)) { screen in
      screen.showsAlternate && screen.lines.count { $0.hasPrefix("didBecomeActive") } == visit
    }
  }

  /// Types a date, and waits until the screen shows it as set.
  func setDate(on terminal: PseudoTerminal) async throws {
    terminal.send("d\(Self.typedDate)\r")
    // The whole line: while the date is typed, more stands behind it.
    try await terminal.waitForScreen("the date as set", within: .seconds(60)) {
      $0.lines.contains("Due  \(Self.typedDate)")
    }
  }

  /// The program's process number.
  func pid(on terminal: PseudoTerminal) throws -> Int32 {
    let found = ProcessTable.members(ofSession: terminal.child.pid, running: "PregTracker")
    return try #require(found.first).pid
  }

  /// The date in the saved state.
  var savedDate: String? { trackerDate(in: state) }

  /// How the runs in the journal ended, as `lifecycle sessions --json` tells it.
  func endings() async throws -> [String] {
    let tool = try await runProgram([builtProduct("lifecycle"), "sessions", "--json", journal])
    #expect(tool.ending == .exited(0) && tool.errors == "")
    return tool.output.split(separator: "\n").map { line in
      let parts = line.split(separator: "\"ended\":\"")
      return String(parts.last?.prefix { $0 != "\"" } ?? "")
    }
  }

  /// Expects what was typed to be saved, and the run to have ended in order.
  func expectOrderlyEnd(
    date: String = Self.typedDate, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    #expect(savedDate == date, sourceLocation: sourceLocation)
    #expect(try await endings() == ["terminated"], sourceLocation: sourceLocation)
  }
}

extension Shell {
  /// Skips the rest of the test, and says why, where the shell is not installed.
  func isInstalledOrCancel() throws { try requireProgram(rawValue) }
}

/// Skips the rest of the test, and says why, where a program is not installed.
func requireProgram(_ name: String) throws {
  guard installedProgram(name) == nil else { return }
  // Said here as well: the summary of a run counts a case that was cancelled among those that passed.
  print("skipped: \(name) is not installed")
  try Test.cancel("\(name) is not installed")
}
