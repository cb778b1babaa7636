import AttackCore
import Glibc
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
  let surroundings: Surroundings

  init(round: Round, directory: TemporaryDirectory) throws {
    (self.round, self.directory) = (round, directory)
    surroundings = try Surroundings(round, in: directory)
  }

  private var state: String { "\(surroundings.disk)/state" }
  private var journal: String { "\(surroundings.disk)/runs.jsonl" }

  /// What a child does that has the terminal: it says so, and stays if it is told to.
  ///
  /// It has the terminal also where the program's standard streams are closed.
  private static let child =
    "exec </dev/tty >/dev/tty; echo lent=$((1+1)).; read word; [ \"$word\" = 2 ] && { echo stays=$((1+1)).; exec sleep 1000; }"

  /// The command line, the wrapper's before the program's.
  func command() throws -> String {
    var command = "'\(builtProduct(round.program.rawValue))'"
    switch round.program {
    case .pregTracker: command += " --due \(Round.firstDate) --state \(state) --journal \(journal) --tips 127.0.0.1:1"
    case .probe:
      command += " --modes --child '\(Self.child)'"
      // Its release takes a time in which stops and orders meet it. It sleeps in a task, which needs a thread.
      if !round.conditions.contains(.noThreads) { command += " --slow 300" }
    case .service: command += " --journal \(journal)"
    case .quickstart: break
    }
    if !round.conditions.isEmpty || round.program == .probe {
      try directory.write(surroundings.script(for: command), to: "start")
      chmod(directory.file("start"), 0o644)
      command = "sh ./start"
    }
    return surroundings.prefix + (try wrapped(command))
  }

  private func wrapped(_ command: String) throws -> String {
    switch round.wrapper {
    case .none: return command
    case .shellCommand: return "sh -c \"\(command); exit \\$?\""
    case .script:
      try directory.write("\(command)\nexit $?\n", to: "script")
      chmod(directory.file("script"), 0o644)
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
    let signs: [Round.Program: String] = [
      .pregTracker: "active ", .quickstart: "Welcome", .probe: "state active",
    ]
    // The service writes one line, once.
    guard let sign = signs[round.program] else { return }
    try await shows("the program's screen", on: terminal) { $0.showsAlternate && $0.contains(sign) }
  }

  /// Waits until the program has started.
  func isReady(on terminal: PseudoTerminal) async throws {
    if !round.program.hasScreen { try await terminal.wait(for: "listening on port", within: Self.patience) }
    try await isDrawn(on: terminal)
  }

  /// Waits until the program has the terminal again, whose screen is as it was when the program was stopped.
  func isBack(on terminal: PseudoTerminal) async throws {
    guard round.program.hasScreen else {
      return try await ProcessTable.continuing(of: pid(on: terminal), within: Self.patience)
    }
    try await terminal.wait(for: "\u{1B}[?1049h", within: Self.patience)
    try await isDrawn(on: terminal)
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

  /// The date in the saved state.
  var savedDate: String? { trackerDate(in: state) }

  /// How the runs in the journal ended, as `lifecycle sessions --json` tells it.
  func endings() async throws -> [String] {
    let tool = try await runProgram([builtProduct("lifecycle"), "sessions", "--json", journal])
    guard tool.ending == .exited(0) else { return ["lifecycle: \(tool.ending), \(tool.errors)"] }
    return tool.output.split(separator: "\n").map { line in
      String(line.split(separator: "\"ended\":\"").last?.prefix { $0 != "\"" } ?? "")
    }
  }
}
