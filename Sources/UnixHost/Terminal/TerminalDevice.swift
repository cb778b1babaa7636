import CUnixHost

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The controlling terminal of the process.
///
/// For the host thread alone: on another one, where Swift blocks SIGTTOU, changing the modes from the background would
/// succeed, and wreck the shell.
struct TerminalDevice {
  /// What reading gave.
  enum Input {
    case bytes([UInt8])
    case nothing
    /// The end of the input: Ctrl-D in canonical mode, or a terminal that is gone.
    case end
    case refused
  }

  /// The terminal, opened for this process alone, as non-blocking belongs to the open file; -1 without one.
  ///
  /// Descriptor 0 would be shared with the shell.
  let descriptor: Int32
  /// A copy of a standard stream that is a terminal, where the process has no controlling terminal; else -1.
  ///
  /// `setsid` starts a program so. The host only watches for the end of that terminal; the program may close the stream itself.
  let strayStream: Int32
  /// Whether the program has a screen of its own.
  let hasScreen: Bool
  private let usesRawMode: Bool
  private let sequences: TerminalSequences
  /// The modes to give back.
  private var foreignModes: TerminalModes?
  private var ownModes: TerminalModes?
  /// What the terminal has not taken yet.
  private var unwritten: ArraySlice<UInt8> = []
  /// Whether ``unwritten`` holds leaving sequences, after which the terminal is another's.
  private(set) var isLeaving = false
  /// Whether a write found the terminal in another job's hands.
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
    // Whether there is none, or it cannot be opened now, is another question, and opening it for use will ask that.
    return terminal >= 0 || errno == EMFILE || errno == ENFILE
  }

  /// A standard stream that is a terminal.
  static var streamAtTerminal: Int32? { (0...2).first { isatty($0) == 1 } }

  func close() { for descriptor in [descriptor, strayStream] where descriptor >= 0 { _ = systemClose(descriptor) } }

  /// Whose the terminal is.
  var look: TerminalStateMachine.Look {
    guard descriptor >= 0 else { return .none }
    let group = tcgetpgrp(descriptor)
    if group < 0 { return .gone }
    guard group == getpgrp() else { return .background }
    unixhost_emergency_seen()
    return .foreground
  }

  /// The size of its window; nil if it has none.
  var size: Terminal.Size? {
    var window = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_row > 0, window.ws_col > 0 else { return nil }
    return Terminal.Size(rows: Int(window.ws_row), columns: Int(window.ws_col))
  }

  /// The bytes that are the host's keys while the program has the terminal.
  var signalKeys: SignalKeys {
    guard let foreignModes, let ownModes else { return SignalKeys() }
    return SignalKeys(found: foreignModes, own: ownModes)
  }

  var hasOutput: Bool { !unwritten.isEmpty }

  // MARK: Taking and giving back

  /// Sets the program's modes and enters its screen; false if the terminal belongs to another job.
  mutating func take() -> Bool {
    guard let found = TerminalModes(of: descriptor) else { return false }
    // After a SIGSTOP the modes may still be the program's own, or the shell may have put them back.
    if foreignModes == nil || ownModes.map(found.isAlike) != true { foreignModes = found }
    guard let foreign = foreignModes else { return false }
    let own = usesRawMode ? foreign.raw : foreign
    let mayHaveScreen = unixhost_emergency_is_armed()
    // First, so that no crash finds the program's modes set and nothing that puts them back.
    armEmergency(found: foreign, own: own)
    guard own.set(on: descriptor, while: { look == .foreground }) else {
      if mayHaveScreen { leaveLost() } else { drop() }
      return false
    }
    ownModes = own
    // Of a leaving that the terminal has not taken yet nothing is lost: the screen is entered after it.
    if !isLeaving { unwritten = [] }
    isLeaving = false
    hasMetAnotherJob = false
    // A signal's handler has given the terminal back meanwhile: it stays given back.
    guard unixhost_emergency_left() == UNIXHOST_NOT_LEFT else {
      _ = foreign.set(on: descriptor, while: { look == .foreground })
      leaveLost()
      return false
    }
    if hasScreen { unixhost_stderr_capture() }
    write(Array(sequences.enter.utf8))
    return true
  }

  /// Gives back the modes that were found and leaves the program's screen; also where another job has got the terminal a moment ago.
  ///
  /// What the terminal does not take at once is left for ``writeUnwritten()``: ``isLeaving`` then stays true.
  ///
  /// - Parameter lines: what a program without a screen has to say before that.
  mutating func giveBack(after lines: [UInt8]) {
    guard unixhost_emergency_is_armed(), let foreign = foreignModes else { return drop() }
    guard look == .foreground, foreign.set(on: descriptor, while: { look == .foreground }) else { return leaveLost() }
    // Focus reports on the way, and keys that nothing will read, must not appear at the shell's prompt.
    tcflush(descriptor, TCIFLUSH)
    let leave = unixhost_emergency_left() == UNIXHOST_LEFT ? [] : Array(sequences.leave.utf8)
    // Of a screen that goes nothing is missed; a sequence that is broken off ends with the escape character of the next one.
    unwritten = (hasScreen ? [] : unwritten) + lines + leave
    isLeaving = true
    writeUnwritten()
  }

  /// Leaves the screen of a terminal that another job has got a moment ago; waits a moment for it at most.
  ///
  /// A signal's handler may have begun that while the terminal was full.
  mutating func leaveLost() {
    unixhost_emergency_leave_rest(Self.linePatience)
    drop()
  }

  /// A write that found the terminal in another job's hands is an old story.
  mutating func forgetMeeting() { hasMetAnotherJob = false }

  /// Throws away what was typed since the terminal was given back, unless it is another job's by now.
  func discardInput() { if look == .foreground { tcflush(descriptor, TCIFLUSH) } }

  /// Writes lines to a terminal that was given back, unless it is another job's by now; waits a moment for it at most.
  func writeLines(_ lines: [UInt8]) {
    guard look == .foreground else { return }
    _ = unixhost_write_within(descriptor, lines, lines.count, Self.linePatience)
  }

  private static let linePatience: Int32 = 100

  /// Leaves the terminal as it is.
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

  /// Reads what is there.
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

  /// Adds to what is to be written, and writes as much as the terminal takes.
  mutating func write(_ bytes: [UInt8]) {
    unwritten += bytes
    writeUnwritten()
  }

  /// Writes as much as the terminal takes; nothing once it is another job's, or once a signal's handler has left the screen.
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
