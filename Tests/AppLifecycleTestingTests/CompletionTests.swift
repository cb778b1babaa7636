#if os(Linux)
  import Foundation
  import PseudoTerminal
  import TestTraits
  import Testing

  /// What real shells make of the completion scripts.
  @Suite(.timeLimit(.hang)) struct CompletionTests {
    private static func isInstalled(_ shell: String) throws -> Bool {
      guard try Tool.shell("command -v \(shell)", input: "").status != 0 else { return true }
      print("skipped: there is no \(shell) here")
      return false
    }

    /// The words that a line can be completed with: commands, and behind `help` and `completion` what these take.
    private static let cases: [(line: String, words: Set<String>)] = [
      ("lifecycle he", ["help"]),
      ("lifecycle help ", ["simulate", "log", "sessions", "timeline", "fleet", "states", "names", "completion"]),
      ("lifecycle help lo", ["log"]), ("lifecycle help zz", []), ("lifecycle completion f", ["fish"]),
      ("lifecycle log --fo", ["--follow"]), ("lifecycle states --ou", ["--output"]),
      ("lifecycle names --he", ["--help"]), ("lifecycle log --since ", []),
    ]

    @Test func `fish completes commands, and behind help the commands to help with`() throws {
      guard try Self.isInstalled("fish") else { return }
      let script = try Tool.run("completion", "fish").output
      for (line, words) in Self.cases {
        let asked = try Tool.shell("fish --no-config -c 'source - ; complete -C \"\(line)\"'", input: script)
        #expect(asked.status == 0 && asked.error == "")
        let found = asked.output.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
        #expect(Set(found) == words, "\(line): \(found)")
      }
    }

    @Test(arguments: [("lifecycle he", "lifecycle help "), ("lifecycle help lo", "lifecycle help log ")])
    func `zsh completes commands, and behind help the commands to help with`(typed: String, completed: String)
      async throws
    {
      guard try Self.isInstalled("zsh") else { return }
      let folder = FileManager.default.temporaryDirectory.appending(path: "zsh-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let script = folder.appending(path: "_lifecycle").path
      try Data(try Tool.run("completion", "zsh").output.utf8).write(to: URL(filePath: script))
      let environment = ["TERM": "xterm", "HOME": folder.path, "PS1": "", "ZDOTDIR": folder.path]
      try await PseudoTerminal.run(["/usr/bin/env", "zsh", "-f", "-i"], environment: environment) { terminal in
        terminal.send(
          "autoload -U compinit; compinit -D -u; source \(script); lifecycle() { print -r -- \"<$*>\" }; print re''ady\r"
        )
        try await terminal.wait(for: "ready")
        // What the completed line runs says which words it has.
        terminal.send("\(typed)\t\r")
        let words = completed.dropFirst("lifecycle ".count).trimmingCharacters(in: .whitespaces)
        try await terminal.wait(for: "<")
        try await terminal.wait(for: ">")
        #expect(terminal.text.contains("<\(words)>"), "\(terminal.text)")
      }
    }
  }
#endif
