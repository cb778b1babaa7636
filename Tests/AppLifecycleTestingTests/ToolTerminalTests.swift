#if os(Linux)
  import Foundation
  import PseudoTerminal
  import TestTraits
  import Testing

  /// What the tool shows on a terminal.
  @Suite(.timeLimit(.hang)) struct ToolTerminalTests {
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

    /// A journal in a folder of its own, so long that its readers say how far they have got; nothing in it is to be seen.
    private func makeLongJournal() throws -> (folder: URL, path: String) {
      let folder = FileManager.default.temporaryDirectory.appending(path: "progress-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let path = folder.appending(path: "trips.jsonl").path
      let line = "{\"journal\":\"filler\",\"text\":\"" + String(repeating: "x", count: 1_000_000) + "\"}\n"
      try Data(String(repeating: line, count: 34).utf8).write(to: URL(filePath: path))
      return (folder, path)
    }

    @Test(
      .longRunning,
      arguments: ["timeline trips.jsonl -o page.html", "timeline trips.jsonl -o trace.json", "sessions trips.jsonl"])
    func `says how far it has got with a long journal, and leaves nothing of that behind`(command: String) async throws
    {
      let (folder, path) = try makeLongJournal()
      defer { try? FileManager.default.removeItem(at: folder) }
      let arguments = command.split(separator: " ").map { word in
        word.contains(".") ? folder.appending(path: String(word)).path : String(word)
      }
      try await PseudoTerminal.run([Tool.executable.path] + arguments, rows: 24, columns: 60) { terminal in
        try await terminal.outputHasEnded()
        let shown = terminal.text.matches(of: /\r[^\r]*trips\.jsonl: (\d+) %/).compactMap { Int($0.1) }
        #expect(shown.count > 20 && shown.count <= 100 && shown == shown.sorted() && (shown.last ?? 0) > 90)
        #expect(!terminal.screen.contains("%") && !terminal.screen.contains(folder.lastPathComponent))
        #expect(FileManager.default.fileExists(atPath: path))
      }
    }

    /// As in a shell of Emacs, which shows the bytes of a control sequence.
    @Test(.longRunning, arguments: ["dumb", ""])
    func `sends a terminal no control sequence that it may not know`(name: String) async throws {
      let (folder, path) = try makeLongJournal()
      defer { try? FileManager.default.removeItem(at: folder) }
      let tool = [Tool.executable.path, "sessions", path]
      let command = name.isEmpty ? ["/usr/bin/env", "-u", "TERM"] + tool : tool
      try await PseudoTerminal.run(command, environment: ["TERM": name], rows: 24, columns: 60) { terminal in
        try await terminal.outputHasEnded()
        #expect(terminal.text.contains("%") && !terminal.text.contains("\u{1B}"))
        #expect(!terminal.screen.contains("%") && !terminal.screen.contains("trips.jsonl"))
      }
    }

    @Test(.longRunning) func `does not wait for a terminal that its user has stopped`() async throws {
      let (folder, path) = try makeLongJournal()
      defer { try? FileManager.default.removeItem(at: folder) }
      let done = try LineFile(folder.appending(path: "done").path)
      let command = "read line; \"$1\" timeline \"$2\" -o \"$2.html\"; echo \"status $?\" > \"$3\""
      let shell = ["/bin/sh", "-c", "echo ready; \(command)", "sh", Tool.executable.path, path, done.path]
      try await PseudoTerminal.run(shell) { terminal in
        try await terminal.wait(for: "ready")
        // Ctrl-S stops all output; then the line that the shell waits for.
        terminal.send([0x13, 0x0D])
        #expect(try await done.line("the tool's end") { _ in true } == "status 0")
        #expect(!terminal.text.contains("%"))
        terminal.send([0x11])
        try await terminal.outputHasEnded()
      }
    }
  }
#endif
