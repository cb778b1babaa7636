#if os(Linux)
  import Foundation
  import PseudoTerminal
  import Testing

  /// What the tool shows on a terminal.
  @Suite(.timeLimit(.minutes(5))) struct ToolTerminalTests {
    /// All that it prints on a terminal so many columns wide.
    private func output(
      _ arguments: [String], columns: Int, environment: [String: String] = ["TERM": "xterm"]
    ) async throws -> [String] {
      try await PseudoTerminal.run(
        [Tool.executable.path] + arguments, environment: environment.merging(["TZ": "UTC"]) { $1 }, columns: columns
      ) { terminal in
        try await terminal.outputHasEnded()
        return terminal.text.split(separator: "\r\n").map(String.init)
      }
    }

    @Test(arguments: [60, 80, 200]) @MainActor
    func `fits the terminal, and is in colour there`(columns: Int) async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "terminal-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let path = folder.appending(path: "trips.jsonl").path
      try await TripsJournal.write(to: path)
      for arguments in [["log", path], ["sessions", path], ["names"]] {
        let lines = try await output(arguments, columns: columns)
        let plain = lines.map { $0.replacing(/\u{1B}\[[0-9;]*m/, with: "") }
        #expect(plain.count >= 3)
        // The longest names of the platform stay whole.
        for line in plain where columns != 80 && !line.contains(" post UI") {
          #expect(line.count <= columns, "\(line)")
        }
        #expect(arguments[0] == "names" || lines.contains { $0.contains("\u{1B}[") })
        let dull = try await output(arguments, columns: columns, environment: ["TERM": "xterm", "NO_COLOR": "1"])
        #expect(dull == plain)
      }
      let sessions = try await output(["sessions", path, "--color", "never"], columns: columns)
      if columns < 100 {
        #expect(
          sessions.suffix(2) == [
            "#2  2026-11-21 19:00:00  1m 35s  ended by the watchdog", "  active 1m 30s, background 5.0s",
          ])
      } else {
        #expect(sessions.last?.hasSuffix("5.0s          -  ended by the watchdog") == true)
      }
    }
  }
#endif
