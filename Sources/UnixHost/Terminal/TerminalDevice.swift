import CUnixHost

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

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

  /// The descriptor of the terminal, or -1 without one.
  ///
  /// The device is opened again, because non-blocking mode belongs to the open file, and the shell shares that of
  /// descriptor 0.
  let descriptor: Int32
  /// A copy of a standard stream that is a terminal, if the process has no controlling terminal; otherwise -1.
  ///
  /// `setsid` starts a program in this way. The host only watches for the end of that terminal; the program may close
  /// the stream itself.
  let strayStream: Int32
  /// Whether the program has a screen of its own.
  let hasScreen: Bool
  private let usesRawMode: Bool
  private let sequences: TerminalSequences
  /// The modes to restore.
  private var foreignModes: TerminalModes?
  private var ownModes: TerminalModes?
  /// Output that the terminal has not accepted yet.
  private var unwritten: ArraySlice<UInt8> = []
  /// Whether ``unwritten`` contains leaving sequences, after which another job may own the terminal.
  private(set) var isLeaving = false
  /// Whether a write found that another job owns the terminal.
  private(set) var hasMetAnotherJob = false

  init(_ asked: TerminalHost.Configuration) {
    let configuration = Self.isDumb ? asked.withoutSequences : asked
    descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    strayStream = descriptor >= 0 ? -1 : Self.streamAtTerminal.map { fcntl($0, F_DUPFD_CLOEXEC, 3) } ?? -1
    usesRawMode = configuration.usesRawMode
    hasScreen = configuration.usesAlternateScreen
    sequences = TerminalSequences(configuration)
  }

  /// Whether the terminal shows escape sequences instead of obeying them.
  static var isDumb: Bool { getenv("TERM").map { String(cString: $0) } == "dumb" }

  /// Whether the process has a controlling terminal.
  static var hasControllingTerminal: Bool {
    let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    if terminal >= 0 { _ = systemClose(terminal) }
    // Without free descriptors there may still be a terminal; a later open reports the error.
    return terminal >= 0 || errno == EMFILE || errno == ENFILE
  }

  /// A standard stream that is a terminal.
  static var streamAtTerminal: Int32? { (0...2).first { isatty($0) == 1 } }

  func close() { for descriptor in [descriptor, strayStream] where descriptor >= 0 { _ = systemClose(descriptor) } }

  /// The owner of the terminal.
  var look: TerminalStateMachine.Look {
    guard descriptor >= 0 else { return .none }
    let group = tcgetpgrp(descriptor)
    if group < 0 { return .gone }
    guard group == getpgrp() else { return .background }
    unixhost_emergency_seen()
    return .foreground
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

  var hasOutput: Bool { !unwritten.isEmpty }

  // MARK: Taking and giving back

  /// Sets the program's modes and enters its screen; returns false if another job owns the terminal.
  mutating func take() -> Bool {
    guard let found = TerminalModes(of: descriptor) else { return false }
    // After a SIGSTOP the modes may still be the program's own, or the shell may have restored them.
    if foreignModes == nil || ownModes.map(found.isAlike) != true { foreignModes = found }
    guard let foreign = foreignModes else { return false }
    let own = usesRawMode ? foreign.raw : foreign
    let mayHaveScreen = unixhost_emergency_is_armed()
    // Arm first, so that the emergency code can restore the terminal in a crash right after the modes are set.
    armEmergency(found: foreign, own: own)
    guard own.set(on: descriptor, while: { look == .foreground }) else {
      if mayHaveScreen { leaveLost() } else { drop() }
      return false
    }
    ownModes = own
    // Keep leaving sequences that the terminal has not accepted yet; the screen is entered after them.
    if !isLeaving { unwritten = [] }
    isLeaving = false
    hasMetAnotherJob = false
    // A signal handler has given the terminal back meanwhile, so it stays given back.
    guard unixhost_emergency_left() == UNIXHOST_NOT_LEFT else {
      _ = foreign.set(on: descriptor, while: { look == .foreground })
      leaveLost()
      return false
    }
    if hasScreen { unixhost_stderr_capture() }
    write(Array(sequences.enter.utf8))
    return true
  }

  /// Restores the modes that were found, and leaves the program's screen, even if another job has just taken the
  /// terminal.
  ///
  /// Output that the terminal does not accept at once is left for ``writeUnwritten()``; ``isLeaving`` then stays true.
  ///
  /// - Parameter lines: the last output of a program without a screen.
  mutating func giveBack(after lines: [UInt8]) {
    guard unixhost_emergency_is_armed(), let foreign = foreignModes else { return drop() }
    guard look == .foreground, foreign.set(on: descriptor, while: { look == .foreground }) else { return leaveLost() }
    // Pending focus reports and unread keys must not appear at the shell's prompt.
    tcflush(descriptor, TCIFLUSH)
    let leave = unixhost_emergency_left() == UNIXHOST_LEFT ? [] : Array(sequences.leave.utf8)
    // Output for a screen that is left is not needed. The escape character of the next sequence ends an incomplete one.
    unwritten = (hasScreen ? [] : unwritten) + lines + leave
    isLeaving = true
    writeUnwritten()
  }

  /// Leaves the screen of a terminal that another job has just taken; waits only briefly for the terminal.
  ///
  /// A signal handler may have begun to do so while the terminal was full.
  mutating func leaveLost() {
    unixhost_emergency_leave_rest(Self.linePatience)
    drop()
  }

  /// Forgets that a write found another job as the owner.
  mutating func forgetMeeting() { hasMetAnotherJob = false }

  /// Discards input that was typed since the terminal was given back, unless another job owns it now.
  func discardInput() { if look == .foreground { tcflush(descriptor, TCIFLUSH) } }

  /// Writes lines to a terminal that was given back, unless another job owns it now; waits only briefly for the
  /// terminal.
  func writeLines(_ lines: [UInt8]) {
    guard look == .foreground else { return }
    _ = unixhost_write_within(descriptor, lines, lines.count, Self.linePatience)
  }

  private static let linePatience: Int32 = 100

  /// Gives the terminal up without changing it.
  mutating func drop() {
    unwritten = []
    isLeaving = false
    unixhost_emergency_disarm()
    unixhost_stderr_release()
  }

  private func armEmergency(found: TerminalModes, own: TerminalModes) {
    var (found, own) = (found.attributes, own.attributes)
    var leave = sequences.leave
    leave.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        unixhost_emergency_arm(descriptor, &found, &own, characters.baseAddress, characters.count)
      }
    }
  }

  // MARK: Reading and writing

  /// Reads the available input.
  func read() -> Input {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = systemRead(descriptor, &buffer, buffer.count)
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

  /// Writes as much as the terminal accepts; writes nothing if another job owns it, or a signal handler has left the
  /// screen.
  mutating func writeUnwritten() {
    guard hasOutput || isLeaving else { return }
    guard look == .foreground else {
      hasMetAnotherJob = true
      unwritten = []
      if isLeaving { leaveLost() }
      return
    }
    var interruptions = 0
    while !unwritten.isEmpty {
      let count = unwritten.withUnsafeBytes {
        unixhost_terminal_write(descriptor, $0.baseAddress, $0.count, isLeaving)
      }
      if count > 0 {
        unwritten = unwritten.dropFirst(count)
      } else if count < 0, errno == ECANCELED {
        unwritten = []
      } else if count < 0, errno == EINTR, interruptions < Self.interruptionLimit, look == .foreground {
        interruptions += 1
      } else {
        return
      }
    }
    if isLeaving { drop() }
  }

  private static let interruptionLimit = 16
}

// Under names that the methods above do not hide.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
  read(descriptor, buffer, count)
}
private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }
