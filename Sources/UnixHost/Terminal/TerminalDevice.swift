import CUnixHost
import LibC
import Scheduling

/// The controlling terminal of the process.
///
/// Only the host's thread may use it. On other threads Swift blocks SIGTTOU, so a change of the modes from the
/// background would succeed, and break the shell.
struct TerminalDevice {
  /// The result of a read.
  enum Input {
    case bytes([UInt8])
    case nothing
    /// The end of the input: Ctrl-D in canonical mode, or the loss of the terminal.
    case end
    case refused
  }

  /// The descriptor of the terminal, or -1 without one, or after ``close()``.
  ///
  /// As a rule the device is opened again, because non-blocking mode belongs to the open file, and the shell shares that
  /// of descriptor 0.
  private(set) var descriptor: Int32
  /// The reason why there is no terminal; nil if there is one.
  let missing: MissingTerminal?
  /// A copy of a standard stream that is a terminal, if that of the session was not found; otherwise -1.
  ///
  /// `setsid` starts a program in this way. The host only watches for the end of that terminal; the program may close
  /// the stream itself.
  private(set) var strayStream: Int32
  /// Whether the program has a screen of its own.
  let hasScreen: Bool
  private let usesRawMode: Bool
  private let sequences: TerminalSequences
  /// The modes to restore.
  private var foreignModes: TerminalModes?
  private var ownModes: TerminalModes?
  /// Output that the terminal has not accepted yet.
  private var unwritten: ArraySlice<UInt8> = []
  /// The number of bytes of ``unwritten`` that belong to the way into the terminal; lines of the program follow.
  private var entering = 0
  /// Whether the leaving sequences follow ``unwritten``; after them another job may own the terminal.
  private(set) var isLeaving = false
  /// Whether a write found that another job owns the terminal.
  private(set) var hasMetAnotherJob = false

  /// Whether the program has lent the terminal, and has not taken it back.
  var isLent = false
  /// The process group of a child to which the program has lent the terminal, if it is not the program's own.
  var borrower: pid_t? {
    // The program may also crash or call `exit` during the loan.
    didSet { unixhost_emergency_lend(descriptor, borrower ?? 0) }
  }

  init(_ configuration: TerminalHost.Configuration) {
    do throws(MissingTerminal) {
      (descriptor, missing) = (try Self.openTerminal(), nil)
    } catch {
      (descriptor, missing) = (-1, error)
    }
    strayStream = descriptor >= 0 ? -1 : Self.streamAtTerminal.map { fcntl($0, F_DUPFD_CLOEXEC, 3) } ?? -1
    usesRawMode = configuration.usesRawMode
    hasScreen = configuration.usesAlternateScreen && !Self.isDumb
    sequences = TerminalSequences(configuration, isDumb: Self.isDumb)
  }

  /// Whether the terminal shows escape sequences instead of obeying them.
  static var isDumb: Bool { Environment.variable("TERM") == "dumb" }

  mutating func close() {
    if unixhost_emergency_is_armed() { drop(showsErrors: false) }
    for descriptor in [descriptor, strayStream] where descriptor >= 0 { LibC.close(descriptor) }
    (descriptor, strayStream) = (-1, -1)
  }

  /// The owner of the terminal.
  var look: TerminalStateMachine.Look {
    guard descriptor >= 0 else { return .none }
    let group = tcgetpgrp(descriptor)
    if group < 0 { return .gone }
    return group == getpgrp() || group == borrower ? .foreground : .background
  }

  /// The size of the terminal's window; nil if it has none.
  var size: Terminal.Size? {
    var window = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_row > 0, window.ws_col > 0 else { return nil }
    return Terminal.Size(rows: Int(window.ws_row), columns: Int(window.ws_col))
  }

  /// The bytes of the keys that the host handles while the program has the terminal.
  var signalKeys: SignalKeys {
    guard let foreignModes, let ownModes else { return SignalKeys() }
    return SignalKeys(found: foreignModes, own: ownModes)
  }

  /// Whether output waits until the terminal accepts it.
  var hasOutput: Bool { !unwritten.isEmpty || isLeaving }

  // MARK: Taking and giving back

  /// Sets the program's modes and enters its screen; returns false if another job owns the terminal.
  mutating func take() -> Bool {
    guard let found = TerminalModes(of: descriptor) else { return false }
    if areForeign(found) { foreignModes = found }
    guard let foreign = foreignModes else { return false }
    let own = usesRawMode ? foreign.raw : foreign
    let mayHaveScreen = unixhost_emergency_is_armed() && unixhost_emergency_left() != UNIXHOST_LEFT
    let unfinished = endOfEarlierStay
    // Arm first, so that the emergency code can restore the terminal in a crash right after the modes are set.
    armEmergency(found: foreign, own: own)
    // On another thread the process has begun to end.
    guard unixhost_emergency_is_armed() else { return false }
    guard own.set(on: descriptor, while: { look == .foreground }) else {
      // Another job has the terminal, perhaps with a screen of its own.
      if mayHaveScreen { leaveLost() } else { drop(showsErrors: false) }
      return false
    }
    ownModes = own
    unwritten = unfinished
    isLeaving = false
    hasMetAnotherJob = false
    // A signal handler has given the terminal back meanwhile, so it stays given back.
    guard unixhost_emergency_is_armed(), unixhost_emergency_left() == UNIXHOST_NOT_LEFT else {
      _ = foreign.set(on: descriptor, while: { look == .foreground })
      leaveLost()
      return false
    }
    if hasScreen {
      if unixhost_stderr_tend() { unixhost_stderr_show() }
      unixhost_stderr_capture()
    }
    unwritten += sequences.enter.utf8
    entering = unwritten.count
    writeUnwritten()
    return true
  }

  /// Whether modes that were found are not the program's own.
  ///
  /// After a SIGSTOP, or a SIGCONT without a stop, the terminal may still have the program's modes, or the shell may have
  /// restored its own. A shell edits lines, and raw modes do not, whatever another process has changed in them meanwhile.
  /// A child process that was killed during a loan has left its own modes, perhaps without echo, as for a password.
  private func areForeign(_ found: TerminalModes) -> Bool {
    guard let foreignModes, let ownModes else { return true }
    // A program that sets no modes finds the shell's, perhaps with other special characters.
    if isLent || usesRawMode && found.isAlike(ownModes) { return false }
    return found.editsLines || !foreignModes.editsLines
  }

  /// The output that ends an earlier stay in the terminal, and comes before the sequences that enter it.
  ///
  /// The terminal may not have accepted all leaving sequences yet. After a SIGSTOP none have been written: then the modes
  /// are ended, because those that a terminal keeps on a stack would begin twice.
  private var endOfEarlierStay: ArraySlice<UInt8> {
    guard unixhost_emergency_is_armed() else { return [] }
    // A screen is drawn again, and lines are not.
    let lines = hasScreen ? [] : unwritten.dropFirst(entering)
    switch unixhost_emergency_left() {
    case UNIXHOST_LEFT: return lines
    case UNIXHOST_NOT_LEFT where !isLeaving: return lines + sequences.leaveModes.utf8
    default: return unwritten + sequences.leave.utf8.dropFirst(unixhost_emergency_left_count())
    }
  }

  /// Restores the modes that were found, and leaves the program's screen, even if another job has just taken the
  /// terminal.
  ///
  /// Output that the terminal does not accept at once is left for ``writeUnwritten()``; ``isLeaving`` then stays true.
  ///
  /// - Parameter output: the last output of the program, which comes before the leaving sequences.
  mutating func giveBack(after output: [UInt8]) {
    guard unixhost_emergency_is_armed(), let foreign = foreignModes else { return drop(showsErrors: false) }
    guard look == .foreground, foreign.set(on: descriptor, while: { look == .foreground }) else { return leaveLost() }
    unwritten += output
    isLeaving = true
    writeUnwritten()
  }

  /// Discards output that the terminal has not accepted, so that the leaving sequences can follow at once.
  ///
  /// The escape character of the next sequence ends an incomplete one.
  mutating func dropOutput() {
    guard isLeaving else { return }
    (unwritten, entering) = ([], 0)
    writeUnwritten()
  }

  /// Leaves the screen of a terminal that another job has just taken, if it is the shell; waits only briefly for the
  /// terminal.
  ///
  /// A signal handler may have begun to do so while the terminal was full. If another job than the shell has the terminal,
  /// or it accepts no output, it stays armed, for ``leaveAbandoned()``.
  mutating func leaveLost() {
    // Without a terminal to leave, nothing says whose screen standard error is on.
    guard unixhost_emergency_is_armed() else { return drop(showsErrors: false) }
    if unixhost_emergency_leave_rest(Self.lossPatience) { return drop() }
    (unwritten, entering, isLeaving) = ([], 0, false)
    unixhost_stderr_release(false)
  }

  private static let lossPatience: Int32 = 1000

  /// Leaves the screen of a terminal that was lost, as soon as the shell has it and accepts output; never waits.
  mutating func leaveAbandoned() { if unixhost_emergency_is_armed(), unixhost_emergency_leave_rest(0) { drop() } }

  /// Whether a terminal that this process may write to has not accepted all leaving sequences yet.
  var isUnrestored: Bool {
    isLeaving || unixhost_emergency_is_armed() && unixhost_emergency_left() == UNIXHOST_LEFT_IN_PART
  }

  /// Forgets that a write found another job as the owner.
  mutating func forgetMeeting() { hasMetAnotherJob = false }

  /// Writes lines to a terminal that was given back, unless another job owns it now; waits only briefly for the
  /// terminal.
  func writeLines(_ lines: [UInt8]) {
    guard look == .foreground else { return }
    _ = unixhost_write_until(descriptor, lines, lines.count, unixhost_now() + Self.linePatience)
  }

  /// In nanoseconds.
  private static let linePatience: Int64 = 100_000_000

  /// Gives the terminal up without changing it.
  ///
  /// - Parameter showsErrors: whether to print the captured standard error, which would garble another program's screen.
  mutating func drop(showsErrors: Bool = true) {
    (unwritten, entering, isLeaving) = ([], 0, false)
    unixhost_emergency_disarm()
    unixhost_stderr_release(showsErrors)
  }

  /// Writes what was kept, or what a child process has written to the captured standard error since the screen was left,
  /// unless another job than the shell owns the terminal: it may show its screen.
  func showLateErrors() {
    guard !unixhost_emergency_is_armed() else { return }
    let isOurs = look == .foreground
    if isOurs || tcgetpgrp(descriptor) == ProcessTree.live.shellGroup(of: getpid()) { unixhost_stderr_show() }
  }

  private func armEmergency(found: TerminalModes, own: TerminalModes) {
    var (found, own) = (found.attributes, own.attributes)
    let shell = ProcessTree.live.shellGroup(of: getpid()) ?? 0
    var leave = sequences.leave
    leave.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        unixhost_emergency_arm(descriptor, shell, &found, &own, characters.baseAddress, characters.count)
      }
    }
  }

  // MARK: Reading and writing

  /// The greatest number of bytes that are read one by one: more than a user types before the host reads them.
  private static let typedLimit = 256

  /// Reads the available input; never waits for any.
  ///
  /// - Parameter isLast: called with each byte, and returns whether no further byte is to be read; nil to read as much as
  ///   possible. Of much input only the last ``typedLimit`` bytes are read in this way.
  /// - Returns: the input.
  func read(until isLast: ((UInt8) -> Bool)?) -> Input {
    unixhost_emergency_claim_input(true)
    guard let isLast else { return read(atMost: 4096) }
    var available: Int32 = 0
    guard ioctl(descriptor, UInt(FIONREAD), &available) == 0, available <= Self.typedLimit else {
      return read(atMost: min(4096, max(1, Int(available) - Self.typedLimit)))
    }
    var bytes: [UInt8] = []
    repeat {
      let input = read(atMost: 1)
      guard case .bytes(let next) = input else { return bytes.isEmpty ? input : .bytes(bytes) }
      bytes += next
      if isLast(next[0]) { unixhost_emergency_claim_input(false); break }
    } while bytes.count < available
    return .bytes(bytes)
  }

  private func read(atMost limit: Int) -> Input {
    // The descriptor of a standard stream may wait for input that another process has discarded meanwhile.
    var readable = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&readable, 1, 0) > 0 else { return .nothing }
    var buffer = [UInt8](repeating: 0, count: limit)
    let count = LibC.read(descriptor, &buffer, buffer.count)
    if count > 0 { return .bytes(Array(buffer[..<count])) }
    if count == 0 { return .end }
    switch errno {
    case EAGAIN, EINTR: return .nothing
    default: return .refused
    }
  }

  /// Appends output, and writes as much as the terminal accepts.
  mutating func write(_ bytes: [UInt8]) {
    unwritten += bytes
    writeUnwritten()
  }

  /// Writes as much as the terminal accepts; writes nothing if another job owns it, and only the lines of a program
  /// without a screen if a signal handler has given the terminal back.
  mutating func writeUnwritten() {
    var interruptions = 0
    while !unwritten.isEmpty {
      // The owner may change before each write.
      guard look == .foreground else { return meetAnotherJob() }
      let areLines = !hasScreen && entering == 0
      let count = unwritten.withUnsafeBytes {
        unixhost_terminal_write(descriptor, $0.baseAddress, entering > 0 ? entering : $0.count, areLines)
      }
      if count > 0 {
        unwritten = unwritten.dropFirst(count)
        entering = max(0, entering - count)
      } else if count < 0, errno == ECANCELED {
        unwritten = hasScreen || areLines ? [] : unwritten.dropFirst(entering)
        entering = 0
      } else if count < 0, errno == EINTR, interruptions < TerminalModes.interruptionLimit, look == .foreground {
        interruptions += 1
      } else {
        return
      }
    }
    guard isLeaving else { return }
    guard look == .foreground else { return meetAnotherJob() }
    if unixhost_emergency_leave_rest(0) { drop() }
  }

  private mutating func meetAnotherJob() {
    hasMetAnotherJob = true
    (unwritten, entering) = ([], 0)
    if isLeaving { leaveLost() }
  }
}
