import AppLifecycle
import Glibc
import PseudoTerminal
import Testing

/// A `TerminalProbe`, or another probe, that a test drives: its command line, its log and the gate at which its tear-down waits.
struct ProbeSession {
  /// A directory of its own, removed after the test.
  let directory: TemporaryDirectory
  let log: LineFile
  let gate: Gate
  /// The path of the program, whose last part is its name, whatever main loop it has.
  let program: String

  /// Runs `body` with a session, and removes its files afterwards.
  static func run<Result>(
    _ program: String = "TerminalProbe", on loop: ProbeLoop = .chosen, _ body: (ProbeSession) async throws -> Result
  ) async throws -> Result {
    try await withTemporaryDirectory { directory in
      let log = try LineFile(directory.file("log"))
      let gate = try Gate(directory.file("gate"))
      return try await body(
        ProbeSession(directory: directory, log: log, gate: gate, program: try loop.path(of: program, in: directory)))
    }
  }

  /// The probe's command line, as arguments.
  func arguments(_ options: String...) -> [String] { [program, "--log", log.path] + options }

  /// The probe's command line, as a shell reads it.
  func command(_ options: String...) -> String { command(options) }

  private func command(_ options: [String]) -> String {
    (["'\(program)'", "--log", log.path] + options).joined(separator: " ")
  }

  /// The budget of a tear-down that ends when the test says so, on a machine of any speed, in milliseconds.
  static let longBudget = "600000"

  /// The options that let the tear-down wait at the gate.
  var gateOptions: String { "--budget \(Self.longBudget) --gate \(gate.path)" }

  /// The life cycle's records among the log's lines.
  ///
  /// Without those of the machine's own memory and clock: what happens to them during a test is not the test's doing.
  var records: [String] {
    log.lines.filter { line in
      if line.contains("ReceiveMemoryWarning") || line.contains("ignificantTimeChange") { return false }
      return ["state", "delegate", "notification", "report", "ignored"].contains { line.hasPrefix("\($0) ") }
    }
  }

  /// Expects the life cycle's records to be these transitions, no more and no less.
  func expectRecords(_ transitions: Records..., sourceLocation: SourceLocation = #_sourceLocation) {
    expectRecords(transitions, sourceLocation: sourceLocation)
  }

  /// Expects the life cycle's records to be these transitions, no more and no less.
  func expectRecords(_ transitions: [Records], sourceLocation: SourceLocation = #_sourceLocation) {
    let expected = transitions.flatMap(\.lines)
    let records = records
    guard records != expected else { return }
    let agreed = zip(records, expected).prefix { $0 == $1 }.count
    Issue.record(
      """
      after \(agreed) records there was \(records.dropFirst(agreed).first ?? "nothing") \
      instead of \(expected.dropFirst(agreed).first ?? "nothing") in:
      \(log.lines.joined(separator: "\n"))
      """, sourceLocation: sourceLocation)
  }

  /// Waits until the probe has become active for the nth time in its life and shows it.
  func isActive(visit: Int, on terminal: PseudoTerminal) async throws {
    try await log.line(startingWith: "notification UIApplicationDidBecomeActiveNotification")
    try await terminal.waitForScreen(containing: "state active visit \(visit)")
  }

  /// Types the probe's command line into a shell, and waits until the probe is active.
  func launch(_ options: String..., on terminal: PseudoTerminal) async throws {
    terminal.line(command(options))
    try await isActive(visit: 1, on: terminal)
  }

  /// Has the shell continue the probe in the foreground, and waits until it is active for the nth time.
  func comeBack(visit: Int, on terminal: PseudoTerminal) async throws {
    terminal.line("fg")
    try await isActive(visit: visit, on: terminal)
  }

  /// Presses the key at which the probe ends itself, and waits for its end.
  func quit(on terminal: PseudoTerminal) async throws {
    terminal.send("q")
    try await isNotRunning()
  }

  /// Orders the probe to end while its terminal is not read, and waits for the shell.
  ///
  /// The terminal is read again after the end of the life cycle.
  func endUnread(on terminal: PseudoTerminal) async throws {
    try await terminal.pauseReading()
    try terminal.fill()
    try signal(SIGTERM)
    try await isNotRunning()
    terminal.resumeReading()
    try await terminal.prompt()
  }

  /// Waits until the life cycle has ended.
  func isNotRunning() async throws { try await log.line(startingWith: "state notRunning") }

  /// All bytes that the probe has received, in hexadecimal digits.
  var input: String {
    log.lines.filter { $0.hasPrefix("input ") }.map { $0.dropFirst("input ".count) }.joined()
  }

  /// The probe's process number, once it has been launched.
  func pid() throws -> Int32 {
    let line = try #require(log.lines.first { $0.hasPrefix("pid ") })
    return try #require(Int32(line.dropFirst("pid ".count)))
  }

  /// Repeats an order, as a person does, until the probe has ended: within half a second it would pass for a copy of the first.
  func insist(on signal: Int32) async throws {
    let pid = try pid()
    while kill(pid, signal) == 0 { _ = try await runProgram(["sleep", "0.1"]) }
  }

  /// Sends the probe a signal; its session, and so its number, lives as long as the test's terminal.
  func signal(_ signal: Int32) throws { kill(try pid(), signal) }
}

extension ChildProcess {
  /// Repeats an order, as a person does, until the child has ended: within half a second it would pass for a copy of the first.
  func insist(on signal: Int32) async throws -> ChildEvent {
    while true {
      self.signal(signal)
      if let ending = try? await ending(within: .milliseconds(100)) { return ending }
      try Task.checkCancellation()
    }
  }
}

extension Shell {
  /// Skips the rest of the test, and says why, where the shell is not installed.
  func isInstalledOrCancel() throws {
    guard !isInstalled else { return }
    // Said here as well: the summary of a run counts a case that was cancelled among those that passed.
    print("skipped under \(self): it is not installed")
    try Test.cancel("\(self) is not installed")
  }

  /// Runs `body` with a session of a `TerminalProbe` in this shell; skips the test where the shell is not installed.
  func runProbe<Result>(
    on loop: ProbeLoop = .chosen, _ body: (ProbeSession, PseudoTerminal) async throws -> Result
  ) async throws -> Result {
    try isInstalledOrCancel()
    return try await ProbeSession.run(on: loop) { probe in
      try await run { terminal in try await body(probe, terminal) }
    }
  }
}

extension PseudoTerminal {
  /// Presses Ctrl-Z, and waits until the shell says that the job has stopped and prompts again.
  func stopJob(in shell: Shell) async throws {
    control("Z")
    try await jobHasStopped(in: shell)
  }

  /// Waits until the shell says that the job has stopped and prompts again.
  func jobHasStopped(in shell: Shell) async throws {
    try await wait(for: shell.stopMark)
    try await prompt()
  }
}

extension TerminalScreen {
  /// Whether nothing of a full-screen program is left: neither its screen, nor a hidden cursor, nor what it asked to be told.
  ///
  /// Bash and zsh mark pastes at their own prompts, so there that says nothing about the program.
  func isLeftInOrder(at shell: Shell? = nil) -> Bool {
    let marksPastes = shell == .bash || shell == .zsh || shell == .fish
    return isLeft && (marksPastes || !modes.contains(2004))
  }
}

/// The records of whole transitions, in the words of the probe's log.
struct Records {
  let lines: [String]

  private init(_ parts: [String]...) { lines = parts.flatMap { $0 } }

  private static func call(_ callback: ApplicationCallback, _ state: ApplicationState, _ cause: String) -> [String] {
    ["delegate \(callback.rawValue) \(state.rawValue) \(cause)"]
      + (callback.notificationName.map { ["notification \($0) \(state.rawValue) \(cause)"] } ?? [])
  }

  private static func commit(_ state: ApplicationState, _ cause: String) -> [String] {
    ["state \(state.rawValue) \(state.rawValue) \(cause)"]
  }

  /// A cold launch into the foreground.
  static func launch(_ cause: String = "launch") -> Records {
    Records(
      commit(.inactive, cause), call(.willFinishLaunching, .inactive, cause),
      call(.didFinishLaunching, .inactive, cause),
      commit(.active, cause), call(.didBecomeActive, .active, cause))
  }

  static func launchInBackground(_ cause: String) -> Records {
    Records(
      commit(.background, cause), call(.willFinishLaunching, .background, cause),
      call(.didFinishLaunching, .background, cause))
  }

  /// From active to inactive.
  static func resign(_ cause: String) -> Records {
    Records(call(.willResignActive, .active, cause), commit(.inactive, cause))
  }

  /// From inactive to active.
  static func activate(_ cause: String) -> Records {
    Records(commit(.active, cause), call(.didBecomeActive, .active, cause))
  }

  /// From inactive to background.
  static func enterBackground(_ cause: String) -> Records {
    Records(commit(.background, cause), call(.didEnterBackground, .background, cause))
  }

  /// From active to background.
  static func leave(_ cause: String) -> Records { Records(resign(cause).lines, enterBackground(cause).lines) }

  /// From background to suspended.
  static func suspend(_ cause: String) -> Records { Records(commit(.suspended, cause)) }

  /// From suspended to background.
  static func wake(_ cause: String) -> Records { Records(commit(.background, cause)) }

  /// From background to active.
  static func comeBack(_ cause: String) -> Records {
    Records(call(.willEnterForeground, .background, cause), commit(.inactive, cause), activate(cause).lines)
  }

  /// From background to not running.
  static func terminate(_ cause: String) -> Records {
    Records(call(.willTerminate, .background, cause), commit(.notRunning, cause))
  }

  /// The question whether it may end.
  static func asked(_ cause: String, in state: ApplicationState = .active) -> Records {
    Records(call(.shouldTerminate, state, cause))
  }

  /// From active to not running, after the question.
  static func quit(_ cause: String) -> Records {
    Records(asked(cause).lines, leave(cause).lines, terminate(cause).lines)
  }

  /// One other line.
  static func line(_ line: String) -> Records { Records([line]) }
}
