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
      let program = try AttackedProgram(round: round, directory: directory)
      return try await program.surroundings.withDisk { try await play(program, directory) }
    }
  }

  private func play(_ program: AttackedProgram, _ directory: TemporaryDirectory) async throws -> Observation {
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
    if seen.missed == nil, round.program.hasJournal { seen.journal = try await program.endings() }
    seen.savedDate = program.savedDate
    seen.notices = program.surroundings.notices
    return seen
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
    seen.modesBefore = try await terminal.stateForPrograms()
    place = "start"
    terminal.line(command)
    try await program.isReady(on: terminal)
    try await program.surroundings.restrict(program.pid(on: terminal))
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
    case .setClock:
      try shiftClock(nanoseconds: 1)
      try shiftClock(nanoseconds: -1)
    case .changeModes(let change): try terminal.change(change)
    case .standstill:
      kill(-(try group()), SIGSTOP)
      try await terminal.jobStops(in: round.shell, within: AttackedProgram.patience)
      // The terminal may be in the program's modes, where the return key gives another character.
      terminal.send("fg\n")
      try await program.isBack(on: terminal)
    case .lend(let ownGroup, let ends): try await lend(ownGroup: ownGroup, ends: ends)
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

  private mutating func lend(ownGroup: Bool, ends: Bool) async throws {
    terminal.send(ownGroup ? "L" : "l")
    try await terminal.wait(for: "lent=2.", within: AttackedProgram.patience)
    if let modes = terminal.modes { seen.loans.append(TerminalState(modes, terminal.screen)) }
    terminal.line(ends ? "1" : "2")
    if ends {
      try await program.isBack(on: terminal)
    } else {
      try await terminal.wait(for: "stays=2.", within: AttackedProgram.patience)
    }
  }

  /// The program's process group.
  private func group() throws -> Int32 {
    let pid = try program.pid(on: terminal)
    return ProcessTable.entry(pid)?.group ?? pid
  }

  private mutating func suspend(_ stop: Step.Stop, byBackground: Bool) async throws {
    try await self.stop(by: stop)
    if byBackground {
      terminal.line("bg")
      try await terminal.prompt(within: AttackedProgram.patience)
    }
    terminal.line("fg")
    if round.program.hasScreen {
      try await program.isDrawn(on: terminal)
    } else {
      try await program.isBack(on: terminal)
    }
  }

  /// Stops the job, and notes what is seen then.
  private mutating func stop(by stop: Step.Stop) async throws {
    switch stop {
    case .key: terminal.control("Z")
    // A service is stopped by the system, which stops no wrapper with it.
    case .signal: kill(round.program.hasScreen ? try program.pid(on: terminal) : -(try group()), SIGTSTP)
    }
    try await terminal.jobStops(in: round.shell, within: AttackedProgram.patience)
    let leftOvers = terminal.screen.leftOvers
    // What it saved is in the file once it has stopped: the wrapper may have stopped before.
    let pid = try program.pid(on: terminal)
    let hasStopped = await ProcessTable.stopping(of: pid, within: AttackedProgram.patience)
    // A strace that is stopped itself does not let every thread of its program stop.
    guard hasStopped || round.wrapper == .strace else {
      throw WaitFailed(
        cause: .deadline(AttackedProgram.patience), wanted: "process \(pid) to stop", found: "\(terminal.screen)")
    }
    let modes = try await terminal.stateForPrograms()
    seen.suspensions.append(
      .init(leftOvers: leftOvers, modes: modes, savedDate: program.savedDate))
  }

  // MARK: The end

  private mutating func end() async throws {
    let pid = try program.pid(on: terminal)
    // An order that is ignored.
    for case .ignored(let signal) in round.conditions { kill(pid, signal.number) }
    if round.program == .pregTracker, round.conditions.contains(where: { $0.kind == "ignored signal" }) {
      try await hasReadAll()
    }
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
    case .hangUpStopped,
      .volley where round.endMayStop:
      try await ProcessTable.ending(of: leader, within: AttackedProgram.patience)
      // The shell tells of the end of a job in the background before its next prompt, some shells at once.
      terminal.line("")
    default: try await terminal.prompt(within: AttackedProgram.patience)
    }
    // Nothing catches SIGKILL: the terminal is in the program's modes, and takes no command.
    guard round.ending != .kill else { return }
    // A wrapper that ends first makes the shell prompt before the program has ended, and so does a stop.
    let leftAtPrompt = round.wrapperEndsFirst || round.endMayStop ? [] : terminal.screen.leftOvers
    switch round.ending {
    case .orphaned: break
    case .hangUpStopped: try await terminal.prompt(within: AttackedProgram.patience)
    default: seen.status = try await terminal.status(in: round.shell, within: AttackedProgram.patience)
    }
    seen.modesAfter = try await terminal.stateForPrograms()
    // What the program wrote before its end has been read by now: the answers came behind it.
    seen.leftOvers = leftAtPrompt.isEmpty ? terminal.screen.leftOvers : leftAtPrompt
  }

  /// Ends the wrapper alone, and waits until the program has left the screen to the shell.
  private mutating func endWrapper(of pid: Int32, by signal: Signal) async throws {
    guard let wrapper = ProcessTable.entry(pid)?.parent else { return }
    kill(wrapper, signal.number)
    try await terminal.prompt(within: AttackedProgram.patience)
    try await terminal.waitForScreen("the shell's screen", within: AttackedProgram.patience) { $0.isLeft }
    seen.status = try await terminal.status(in: round.shell, within: AttackedProgram.patience)
    seen.modesWithoutWrapper = try await terminal.stateForPrograms()
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
    case .volley(let shots): await fire(shots, at: pid)
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
      let storm = SignalStorm(for: .milliseconds(300), count: count, pause: 2_000)
      let isInTime = await onThread {
        storm.run {
          kill(number, signal.number)
          if continues { kill(number, SIGCONT) }
        }
      }
      seen.isOutOfTime = !isInTime
    }
  }

  /// Sends each signal after its pause, and then lets everything run on.
  private func fire(_ shots: [Ending.Shot], at pid: Int32) async {
    guard let group = ProcessTable.entry(pid)?.group else { return }
    await onThread {
      for shot in shots {
        usleep(UInt32(shot.pause))
        for _ in 0..<shot.count { kill(shot.toGroup ? -group : pid, shot.signal.number) }
      }
      kill(pid, SIGCONT)
      kill(-group, SIGCONT)
    }
  }
}
