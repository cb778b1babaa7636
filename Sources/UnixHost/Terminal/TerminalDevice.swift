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
  private let usesRawMode: Bool
  private let capturesStandardError: Bool
  private let sequences: TerminalSequences
  /// The modes to give back.
  private var foreignModes: TerminalModes?
  private var ownModes: TerminalModes?
  /// What a full terminal has not taken yet.
  private var unwritten: ArraySlice<UInt8> = []

  init(_ asked: TerminalHost.Configuration) {
    var configuration = asked
    if getenv("TERM").map({ String(cString: $0) }) == "dumb" {
      // It shows escape sequences instead of obeying them.
      configuration.usesAlternateScreen = false
      configuration.reportsFocus = false
      configuration.bracketsPaste = false
    }
    descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    usesRawMode = configuration.usesRawMode
    capturesStandardError = configuration.usesAlternateScreen
    sequences = TerminalSequences(configuration)
  }

  func close() { if descriptor >= 0 { _ = systemClose(descriptor) } }

  /// Whose the terminal is.
  var look: TerminalStateMachine.Look {
    guard descriptor >= 0 else { return .none }
    let group = tcgetpgrp(descriptor)
    if group < 0 { return .gone }
    return group == getpgrp() ? .foreground : .background
  }

  /// The size of its window; nil if it has none.
  var size: Terminal.Size? {
    var window = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_row > 0, window.ws_col > 0 else { return nil }
    return Terminal.Size(rows: Int(window.ws_row), columns: Int(window.ws_col))
  }

  /// Whether the byte 0x1A is the program's to understand.
  var delegatesSuspendKey: Bool { ownModes.map { !$0.makesSignals } ?? false }

  var hasOutput: Bool { !unwritten.isEmpty }

  // MARK: Taking and giving back

  /// Sets the program's modes and enters its screen; false if the terminal belongs to another job.
  mutating func take() -> Bool {
    guard let found = TerminalModes(of: descriptor) else { return false }
    // After a SIGSTOP the modes may still be the program's own, or the shell may have put them back.
    if foreignModes == nil || ownModes.map(found.isAlike) != true { foreignModes = found }
    guard let foreign = foreignModes else { return false }
    let own = usesRawMode ? foreign.raw : foreign
    // First, so that no crash finds the program's modes set and nobody to put them back.
    armEmergency(foreign)
    guard own.set(on: descriptor, TCSADRAIN, while: { look == .foreground }) else {
      unixhost_emergency_disarm()
      return false
    }
    ownModes = own
    unwritten = []
    if capturesStandardError { unixhost_stderr_capture() }
    writeNow(sequences.enter)
    return true
  }

  /// Leaves the program's screen and gives back the modes that were found; touches nothing that is another job's.
  mutating func giveBack() {
    guard unixhost_emergency_is_armed(), let foreign = foreignModes else { return drop() }
    if look == .foreground {
      writeNow(sequences.leave)
      // Flushed: focus reports on the way, and keys that nobody will read, must not appear at the shell's prompt.
      _ = foreign.set(on: descriptor, TCSAFLUSH, while: { look == .foreground })
    }
    drop()
  }

  /// Leaves the terminal as it is.
  mutating func drop() {
    unwritten = []
    unixhost_emergency_disarm()
    unixhost_stderr_release()
  }

  private func armEmergency(_ modes: TerminalModes) {
    var attributes = modes.attributes
    var leave = sequences.leave
    leave.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        unixhost_emergency_arm(descriptor, &attributes, characters.baseAddress, characters.count)
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

  mutating func quietFocus() { write(Array(sequences.quietFocus.utf8)) }

  /// Adds to what is to be written, and writes as much as the terminal takes.
  mutating func write(_ bytes: [UInt8]) {
    unwritten += bytes
    writeUnwritten()
  }

  mutating func writeUnwritten() {
    // An emergency has given the terminal back: nothing more must go there.
    if !unixhost_emergency_is_armed() { unwritten = [] }
    while !unwritten.isEmpty {
      let count = unwritten.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        unwritten = unwritten.dropFirst(count)
      } else if count == 0 || errno != EINTR || look != .foreground {
        return
      }
    }
  }

  /// Writes at once, waiting for the terminal a while; one that takes nothing for so long is given up.
  private mutating func writeNow(_ text: String) {
    unwritten += text.utf8
    writeUnwritten()
    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    while hasOutput {
      let count = poll(&waiting, 1, Self.patience)
      if count < 0, errno == EINTR { continue }
      guard count > 0, waiting.revents & Int16(POLLHUP | POLLERR) == 0 else { break }
      writeUnwritten()
    }
    unwritten = []
  }

  private static let patience: Int32 = 200
}

// Under names that the methods above do not hide.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
  read(descriptor, buffer, count)
}
private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, buffer, count)
}
private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }
