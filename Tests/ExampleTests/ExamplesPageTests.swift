import Foundation
import PseudoTerminal
import TestTraits
import Testing

/// What `Examples/README.md` says that a user sees, a user sees: each of its commands is typed, and each of its keys pressed.
@Suite(.timeLimit(.hang)) struct ExamplesPageTests {
  /// What a block of the page shows of a terminal.
  enum Step: Hashable {
    case command(String)
    case control(Character)
    case key(String)
    /// Lines, one below the other; in the place of a number there may be another one.
    case output([String])
  }

  private static let page: [String] = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let text = try? String(contentsOf: root.appending(path: "Examples/README.md"), encoding: .utf8)
    return text?.components(separatedBy: "\n") ?? []
  }()

  /// The steps of each block of a kind.
  private static func blocks(_ kind: String) -> [[Step]] {
    page.indices.filter { page[$0] == "```\(kind)" }.map { start in
      page[(start + 1)...].prefix { $0 != "```" }.reduce(into: []) { steps, line in
        if line.hasPrefix("$ ") {
          steps.append(.command(String(line.dropFirst(2))))
        } else if line.count == 2, line.first == "^" {
          steps.append(.control(line.last!))
        } else if line.count == 1 {
          steps.append(.key(line))
        } else if case .output(let lines) = steps.last {
          steps[steps.endIndex - 1] = .output(lines + [line])
        } else {
          steps.append(.output([line]))
        }
      }
    }
  }

  static let terminals = blocks("terminal")
  static let consoles = blocks("console")

  @Test func `The page has a block for each example but the windows and the one that needs a broker`() throws {
    let names = (Self.terminals + Self.consoles).joined().compactMap { step -> String? in
      guard case .command(let command) = step else { return nil }
      return command.firstMatch(of: /swift run (\w+)/).map { String($0.1) }
    }
    let products = try FileManager.default.contentsOfDirectory(
      atPath: URL(filePath: #filePath).appending(path: "../../../Examples").standardizedFileURL.path())
    let examples = products.filter { !$0.contains(".") && !["Support", "PausingGame", "Fleet"].contains($0) }
    #expect(Set(names) == Set(examples))
  }

  /// The program that the package built, on a port that is free.
  private func real(_ text: String, _ port: ReservedPort) -> String {
    text.replacing("7000", with: "\(port.port)")
      .replacing(/swift run (\w+)/) { "\(builtProduct(String($0.1)))" }
  }

  @Test(arguments: terminals.indices) func `A terminal shows what the page shows`(block: Int) async throws {
    try await withTemporaryDirectory { directory in
      let port = try ReservedPort()
      try await Shell.bash.run(
        rows: 50, columns: 120, environment: ["XDG_STATE_HOME": directory.path], directory: directory.path
      ) { terminal in
        var isAtPrompt = true
        for step in Self.terminals[block] {
          switch step {
          case .command(let command):
            if !isAtPrompt { try await terminal.prompt() }
            // What the screen shows from here on is the command's.
            terminal.line("clear")
            try await terminal.prompt()
            terminal.line(real(command, port))
            isAtPrompt = false
          case .control(let letter): terminal.control(letter)
          case .key(let key): terminal.send(key)
          case .output(let lines):
            let wanted = lines.filter { !$0.isEmpty }.map { numberless(real($0, port)) }
            try await terminal.waitForScreen("\(lines)") { screen in
              screen.lines.filter { !$0.isEmpty }.map { numberless($0) }.contains(wanted)
            }
          }
        }
        try await terminal.prompt()
        #expect(try await terminal.status(in: .bash) == 0)
      }
    }
  }

  @Test(arguments: consoles.indices) func `A command prints what the page shows, to the letter`(block: Int) async throws
  {
    try await withTemporaryDirectory { directory in
      let port = try ReservedPort()
      var wanted = ""
      var script = "set -e; cd '\(directory.path)'"
      for step in Self.consoles[block] {
        switch step {
        case .command(let command): script += "\n" + real(command, port)
        case .output(let lines): wanted += lines.map { $0 + "\n" }.joined()
        case .control, .key: Issue.record("no terminal takes a key of a console")
        }
      }
      let finished = try await runProgram(["sh", "-c", script])
      #expect(finished.ending == .exited(0))
      #expect(finished.output == wanted)
    }
  }
}

/// A line in which every number is the same one, without the prompt behind which a background job has written it.
private func numberless(_ line: String) -> String {
  (line.hasPrefix(Shell.prompt) ? String(line.dropFirst(Shell.prompt.count)) : line)
    .replacing(/[0-9]+(?:\.[0-9]+)?/, with: "0")
}
