#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The keys of which a terminal makes signals, while the program has switched that off.
///
/// With the kernel's own way a key reaches the whole job at once: a wrapper such as `sh -c` stops or ends immediately, the shell
/// takes the terminal, and the program can restore nothing any more. As bytes the keys reach the program alone, and it restores
/// the terminal first.
package struct SignalKeys: Sendable, Hashable {
  /// What a key asks for.
  package enum Key: Sendable, Hashable {
    /// Ctrl-C as a rule: end, in order.
    case interrupt
    /// Ctrl-Z as a rule: stop.
    case suspend
    /// Ctrl-\ as a rule: end at once.
    case quit

    /// The signal that the kernel would have sent.
    var signal: CaughtSignal {
      switch self {
      case .interrupt: .interrupt
      case .suspend: .stop
      case .quit: .quit
      }
    }
  }

  private var keys: [UInt8: Key] = [:]

  /// No keys.
  init() {}

  /// Ctrl-C, Ctrl-Z and Ctrl-\, as on most terminals.
  package static let usual = SignalKeys(keys: [0x03: .interrupt, 0x1A: .suspend, 0x1C: .quit])

  private init(keys: [UInt8: Key]) { self.keys = keys }

  /// The keys of the modes that the program found, while it has set its own.
  ///
  /// - Parameters:
  ///   - found: the terminal's modes before the program set its own.
  ///   - own: the program's modes.
  init(found: TerminalModes, own: TerminalModes) {
    guard !own.makesSignals else { return }
    // Where the kernel made no signals before, Ctrl-C and Ctrl-\ are what the program's surroundings make of them.
    guard found.makesSignals else {
      keys[0x1A] = .suspend
      return
    }
    add(.quit, found.character(VQUIT))
    add(.suspend, found.character(VSUSP))
    add(.interrupt, found.character(VINTR))
  }

  /// Adds a key, unless its place in the modes says that there is none.
  private mutating func add(_ key: Key, _ byte: UInt8) {
    if byte != Self.disabled { keys[byte] = key }
  }

  #if canImport(Darwin)
    private static let disabled: UInt8 = 0xFF
  #else
    private static let disabled: UInt8 = 0
  #endif

  /// What this byte asks for; nil for a byte that is plain input.
  func key(_ byte: UInt8) -> Key? { keys[byte] }
}
