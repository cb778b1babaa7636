import AttackCore
import Glibc
import PseudoTerminal

/// Does what a round says, and notes what is seen from outside.
///
/// It judges nothing.
struct RoundPlayer {
  private let round: Round

  init(_ round: Round) { self.round = round }

  func play() async throws -> Observation {
    try await withTemporaryDirectory { directory in
      let program = AttackedProgram(round: round, directory: directory)
      let command = try program.command()
      var seen = try await round.shell.run(
        rows: round.size.rows, columns: round.size.columns,
        // The backtracer would wait for a key, and print over what is looked at.
        environment: ["SWIFT_BACKTRACE": "enable=no"], directory: directory.path
      ) { terminal in
        var attack = RoundInTerminal(round: round, program: program, terminal: terminal)
        do {
          try await attack.play(command)
        } catch {
          attack.seen.missed = "\(attack.place): \(error)"
        }
        return attack.seen
      }
      if seen.missed == nil, round.program == .pregTracker { seen.journal = try await program.endings() }
      seen.savedDate = program.savedDate
      return seen
    }
  }
}

/// The part of a round that happens in the terminal.
private struct RoundInTerminal {
  let round: Round
  let program: AttackedProgram
  let terminal: PseudoTerminal
  var seen = Observation()
  /// Where the round is, for a wait that fails.
  var place = "before the start"

  init(round: Round, program: AttackedProgram, terminal: PseudoTerminal) {
    (self.round, self.program, self.terminal) = (round, program, terminal)
  }

  mutating func play(_ command: String) async throws {
    // No core files of ends that are meant.
    terminal.line("ulimit -c 0")
    try await terminal.prompt(within: AttackedProgram.patience)
    seen.modesBefore = try await terminal.modesForPrograms()
    place = "start"
    terminal.line(command)
    try await program.isDrawn(on: terminal)
    for (index, step) in round.steps.enumerated() {
      place = "step \(index + 1), \(step)"
      try await play(step)
    }
    place = "the end, \(round.ending)"
    try await end()
  }

  // MARK: Steps

  private mutating func play(_ step: Step) async throws {
    switch step {
    case .setDate(let date):
      terminal.send("d\(date)\r")
      try await program.shows("the date \(date)", on: terminal) { $0.lines.contains("Due  \(date)") }
    case .resize(let count, let sizes):
      for index in 0..<count {
        let size = sizes[index % sizes.count]
        terminal.resize(rows: size.rows, columns: size.columns)
      }
      terminal.resize(rows: round.size.rows, columns: round.size.columns)
      try await program.isDrawn(on: terminal)
    case .paste(let paste, let count):
      terminal.send(Self.text(of: paste, count: count))
      try await hasReadAll()
    case .keys(let keys):
      press(keys)
      try await hasReadAll()
    case .stall(let milliseconds, let isFull):
      try await terminal.pauseReading()
      if isFull { try terminal.fill() }
      // Two sizes, so that there is something to draw.
      terminal.resize(rows: round.size.rows + 1, columns: round.size.columns)
      terminal.resize(rows: round.size.rows, columns: round.size.columns)
      try await Task.sleep(for: .milliseconds(milliseconds))
      terminal.resumeReading()
      try await program.isDrawn(on: terminal)
    case .suspend(let stop, let byBackground): try await suspend(stop, byBackground: byBackground)
    }
  }

  /// Text without a key that ends the program, or that it asks for something.
  private static func text(of paste: Step.Paste, count: Int) -> String {
    switch paste {
    case .bracketed: "\u{1B}[200~" + String(repeating: "xyz 0\r", count: count / 6) + "\u{1B}[201~"
    case .plain: String(repeating: "x", count: count)
    case .combiningMarks: "e" + String(repeating: "\u{301}", count: count / 2)
    case .longSequence: "\u{1B}[" + String(repeating: "1;", count: count / 2) + "m"
    }
  }

  private func press(_ keys: Step.Keys) {
    switch keys {
    case .focusReports: terminal.send("\u{1B}[O\u{1B}[I")
    case .arrows: terminal.send("\u{1B}[A\u{1B}[B\u{1B}OC\u{1B}OD")
    case .redraw: terminal.control("L")
    case .help: terminal.send("hx")
    }
  }

  /// Asks for the help, and so waits until the program has read all that was typed: the shell would read what is left.
  private func hasReadAll() async throws {
    terminal.send("h")
    try await program.shows("the help", on: terminal) { $0.contains("sets the due date") }
    terminal.send("x")
    try await program.shows("no help", on: terminal) { !$0.contains("sets the due date") }
  }

  private mutating func suspend(_ stop: Step.Stop, byBackground: Bool) async throws {
    try await self.stop(by: stop)
    if byBackground {
      terminal.line("bg")
      try await terminal.prompt(within: AttackedProgram.patience)
    }
    terminal.line("fg")
    try await program.isDrawn(on: terminal)
  }

  /// Stops the job, and notes what is seen then.
  private mutating func stop(by stop: Step.Stop) async throws {
    switch stop {
    case .key: terminal.control("Z")
    case .signal: kill(try program.pid(on: terminal), SIGTSTP)
    }
    try await terminal.jobStops(in: round.shell, within: AttackedProgram.patience)
    let isScreenLeft = terminal.screen.isLeft
    // What it saved is in the file once it has stopped: the wrapper may have stopped before.
    await ProcessTable.stopping(of: try program.pid(on: terminal))
    let modes = try await terminal.modesForPrograms()
    seen.suspensions.append(
      .init(isScreenLeft: isScreenLeft && terminal.screen.isLeft, modes: modes, savedDate: program.savedDate))
  }

  // MARK: The end

  private mutating func end() async throws {
    let pid = try program.pid(on: terminal)
    switch round.ending {
    case .stalled(_, let milliseconds):
      try await terminal.pauseReading()
      try terminal.fill()
      terminal.resumeReading(after: .milliseconds(milliseconds))
    case .orphaned(let signal): try await endWrapper(of: pid, by: signal)
    case .hangUpStopped: try await stop(by: .key)
    default: break
    }
    let leader = ProcessTable.entry(pid)?.group ?? pid
    let start = ContinuousClock.now
    try await order(pid)
    try await ProcessTable.ending(of: pid, within: AttackedProgram.patience)
    seen.duration = ContinuousClock.now - start
    switch round.ending {
    case .hangUp: return
    case .orphaned: break
    case .hangUpStopped:
      try await ProcessTable.ending(of: leader, within: AttackedProgram.patience)
      // The shell tells of the end of a job in the background before its next prompt, some shells at once.
      terminal.line("")
    default: try await terminal.prompt(within: AttackedProgram.patience)
    }
    // Nothing catches SIGKILL: the terminal is in the program's modes, and takes no command.
    guard round.ending != .kill else { return }
    // A wrapper that ends first makes the shell prompt before the program has ended.
    let isLeftAtPrompt = round.wrapperEndsFirst || terminal.screen.isLeft
    switch round.ending {
    case .orphaned: break
    case .hangUpStopped: try await terminal.prompt(within: AttackedProgram.patience)
    default: seen.status = try await terminal.status(in: round.shell, within: AttackedProgram.patience)
    }
    seen.modesAfter = try await terminal.modesForPrograms()
    // What the program wrote before its end has been read by now: the answers came behind it.
    seen.isScreenLeft = isLeftAtPrompt && terminal.screen.isLeft
  }

  /// Ends the wrapper alone, and waits until the program has left the screen to the shell.
  private mutating func endWrapper(of pid: Int32, by signal: Signal) async throws {
    guard let wrapper = ProcessTable.entry(pid)?.parent else { return }
    kill(wrapper, signal.number)
    try await terminal.prompt(within: AttackedProgram.patience)
    try await terminal.waitForScreen("the shell's screen", within: AttackedProgram.patience) { $0.isLeft }
    seen.status = try await terminal.status(in: round.shell, within: AttackedProgram.patience)
    seen.modesWithoutWrapper = try await terminal.modesForPrograms()
  }

  private mutating func order(_ pid: Int32) async throws {
    switch round.ending {
    case .quit, .stalled(.key, _): terminal.send("q")
    case .stalled(.signal, _), .orphaned: kill(pid, SIGTERM)
    case .interrupt: terminal.control("C")
    case .quitKey: terminal.control("\\")
    case .fatal(let signal, let second):
      await onThread {
        kill(pid, signal.number)
        guard let second else { return }
        usleep(UInt32(second.pause))
        kill(pid, second.signal.number)
      }
    case .kill: kill(pid, SIGKILL)
    case .hangUp: await terminal.hangUp()
    case .hangUpStopped:
      guard let group = ProcessTable.entry(pid)?.group else { return }
      kill(-group, SIGHUP)
      kill(-group, SIGCONT)
    case .order(let signal, let target, let count, let continues):
      guard let entry = ProcessTable.entry(pid) else { return }
      let number =
        switch target {
        case .program: pid
        case .wrapper: entry.parent
        case .group: -entry.group
        }
      let isInTime = await SignalStorm(for: .milliseconds(300), count: count, pause: 2_000).run {
        kill(number, signal.number)
        if continues { kill(number, SIGCONT) }
      }
      seen.isOutOfTime = !isInTime
    }
  }
}
