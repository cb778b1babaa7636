import AttackCore
import PseudoTerminal

/// A program with files of its own, as a round starts it.
struct AttackedProgram {
  /// How long anything may take before it counts as something that does not come: longer than every limit.
  static let patience: Duration = .seconds(60)

  private struct NotRunning: Error, CustomStringConvertible {
    let description: String
  }

  private let round: Round
  private let directory: TemporaryDirectory

  init(round: Round, directory: TemporaryDirectory) { (self.round, self.directory) = (round, directory) }

  private var state: String { directory.file("due-date") }
  private var journal: String { directory.file("runs.jsonl") }

  /// The command line, the wrapper's before the program's.
  func command() throws -> String {
    var command = "'\(builtProduct(round.program.rawValue))'"
    if round.program == .pregTracker {
      command += " --due \(Round.firstDate) --state \(state) --journal \(journal) --tips 127.0.0.1:1"
    }
    switch round.wrapper {
    case .none: return command
    case .shellCommand: return "sh -c \"\(command); exit \\$?\""
    case .script:
      try directory.write("\(command)\nexit $?\n", to: "script")
      return "sh ./script"
    case .timeout: return "timeout 1000 \(command)"
    case .timeoutInForeground: return "timeout --foreground 1000 \(command)"
    case .strace: return "strace -f -e trace=none -o /dev/null \(command)"
    case .python:
      // A status below 0 is a signal, which the shell says as 128 and more.
      try directory.write(
        """
        import subprocess, sys
        status = subprocess.call(sys.argv[1:])
        sys.exit(status if status >= 0 else 128 - status)

        """, to: "wrapper.py")
      return "python3 ./wrapper.py \(command)"
    }
  }

  /// Waits until the program has its screen and has drawn it.
  func isDrawn(on terminal: PseudoTerminal) async throws {
    let sign = round.program == .pregTracker ? "active " : "Welcome"
    try await shows("the program's screen", on: terminal) { $0.showsAlternate && $0.contains(sign) }
  }

  /// Waits until the program's screen satisfies a condition.
  func shows(
    _ wanted: String, on terminal: PseudoTerminal, where isWanted: @escaping @Sendable (TerminalScreen) -> Bool
  ) async throws {
    try await terminal.waitForScreen(wanted, within: Self.patience, where: isWanted)
  }

  /// The program's process number.
  func pid(on terminal: PseudoTerminal) throws -> Int32 {
    let found = ProcessTable.members(ofSession: terminal.child.pid, running: round.program.rawValue)
    guard let process = found.first else { throw NotRunning(description: "\(round.program.rawValue) does not run") }
    return process.pid
  }

  /// The date in the state file.
  var savedDate: String? {
    guard let text = try? readFile(state), text.hasPrefix("due "), text.hasSuffix("\n") else { return nil }
    return String(text.dropFirst(4).dropLast())
  }

  /// How the runs in the journal ended, as `lifecycle sessions --json` tells it.
  func endings() async throws -> [String] {
    let tool = try await runProgram([builtProduct("lifecycle"), "sessions", "--json", journal])
    guard tool.ending == .exited(0) else { return ["lifecycle: \(tool.ending), \(tool.errors)"] }
    return tool.output.split(separator: "\n").map { line in
      String(line.split(separator: "\"ended\":\"").last?.prefix { $0 != "\"" } ?? "")
    }
  }
}
