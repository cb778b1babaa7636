import Glibc

/// A terminal's modes (termios) as a value that can be compared.
package struct TerminalModes: Sendable, Hashable, CustomStringConvertible {
  /// Lines are edited by the kernel and delivered whole.
  package var isCanonical: Bool { local & UInt32(ICANON) != 0 }
  /// Keys are echoed.
  package var echoes: Bool { local & UInt32(ECHO) != 0 }
  /// Ctrl-C, Ctrl-Z and Ctrl-\ are signals.
  package var sendsSignals: Bool { local & UInt32(ISIG) != 0 }

  private let input: UInt32
  private let output: UInt32
  private let control: UInt32
  private let local: UInt32
  private let characters: [UInt8]

  init?(of terminal: Int32) {
    var modes = termios()
    guard tcgetattr(terminal, &modes) == 0 else { return nil }
    input = modes.c_iflag
    output = modes.c_oflag
    control = modes.c_cflag
    local = modes.c_lflag
    characters = withUnsafeBytes(of: &modes.c_cc) { Array($0) }
  }

  /// The modes as `stty` writes the ones that matter here, and all words.
  package var description: String {
    "\(isCanonical ? "" : "-")icanon \(echoes ? "" : "-")echo \(sendsSignals ? "" : "-")isig, "
      + "\(input) \(output) \(control) \(local) \(characters)"
  }

  /// Each flag and each special character by the name that `stty` gives it, with its value as text.
  package var named: [String: String] {
    var named: [String: String] = [:]
    func add(_ word: UInt32, _ kind: String, _ flags: KeyValuePairs<String, Int32>) {
      var rest = word
      for (name, flag) in flags {
        named[name] = word & UInt32(flag) == 0 ? "off" : "on"
        rest &= ~UInt32(flag)
      }
      named[kind] = "0x\(String(rest, radix: 16))"
    }
    add(
      input, "other input flags",
      [
        "ignbrk": IGNBRK, "brkint": BRKINT, "ignpar": IGNPAR, "parmrk": PARMRK, "inpck": INPCK, "istrip": ISTRIP,
        "inlcr": INLCR, "igncr": IGNCR, "icrnl": ICRNL, "ixon": IXON, "ixany": IXANY, "ixoff": IXOFF,
        "imaxbel": IMAXBEL, "iutf8": IUTF8,
      ])
    add(
      output, "other output flags", ["opost": OPOST, "onlcr": ONLCR, "ocrnl": OCRNL, "onocr": ONOCR, "onlret": ONLRET])
    add(control, "other control flags", ["cread": CREAD, "parenb": PARENB, "cstopb": CSTOPB, "hupcl": HUPCL])
    add(
      local, "other local flags",
      [
        "isig": ISIG, "icanon": ICANON, "echo": ECHO, "echoe": ECHOE, "echok": ECHOK, "echonl": ECHONL,
        "noflsh": NOFLSH, "tostop": TOSTOP, "iexten": IEXTEN, "echoctl": ECHOCTL, "echoprt": ECHOPRT,
        "echoke": ECHOKE,
      ])
    let names: KeyValuePairs<String, Int32> = [
      "intr": VINTR, "quit": VQUIT, "erase": VERASE, "kill": VKILL, "eof": VEOF, "time": VTIME, "min": VMIN,
      "start": VSTART, "stop": VSTOP, "susp": VSUSP, "eol": VEOL, "rprnt": VREPRINT, "discard": VDISCARD,
      "werase": VWERASE, "lnext": VLNEXT, "eol2": VEOL2,
    ]
    for (name, place) in names { named["the character \(name)"] = "\(characters[Int(place)])" }
    return named
  }
}

extension PseudoTerminal {
  /// A change of the terminal's modes that is not the program's, as `stty -F` makes it from another window.
  package enum ModeChange: String, Sendable, CaseIterable {
    case rawOutput, otherEraseKey, stoppedWriters, bytesForCharacters
  }

  /// Changes the modes from outside the terminal's session.
  package func change(_ change: ModeChange) throws {
    var modes = termios()
    guard let master = contents.state.master, tcgetattr(master, &modes) == 0 else { throw SystemError("tcgetattr") }
    switch change {
    case .rawOutput: modes.c_oflag &= ~tcflag_t(OPOST)
    case .otherEraseKey: withUnsafeMutableBytes(of: &modes.c_cc) { $0[Int(VERASE)] ^= 0x77 }
    case .stoppedWriters: modes.c_lflag ^= tcflag_t(TOSTOP)
    case .bytesForCharacters: modes.c_iflag ^= tcflag_t(IUTF8)
    }
    guard tcsetattr(master, TCSANOW, &modes) == 0 else { throw SystemError("tcsetattr") }
  }
}
