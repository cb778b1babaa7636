import LibC

/// The keys for which a terminal sends signals by default, and which the host handles itself in raw mode.
///
/// If the kernel sends the signal, it reaches the whole job at once. A wrapper such as `sh -c` stops or ends
/// immediately, the shell takes the terminal, and the program can no longer restore it. As bytes the keys reach only
/// the program, which first restores the terminal.
package struct SignalKeys: Sendable, Hashable {
  /// The signals that the kernel would have sent, by the bytes of their keys.
  private var keys: [UInt8: CaughtSignal] = [:]

  /// No keys.
  init() {}

  /// Ctrl-C, Ctrl-Z and Ctrl-\, as on most terminals.
  package static let usual = SignalKeys(keys: [0x03: .interrupt, 0x1A: .stop, 0x1C: .quit])

  private init(keys: [UInt8: CaughtSignal]) { self.keys = keys }

  /// Creates the keys from the modes that the program has found, if its own modes send no signals.
  ///
  /// - Parameters:
  ///   - found: the terminal's modes before the program set its own.
  ///   - own: the program's modes.
  init(found: TerminalModes, own: TerminalModes) {
    guard !own.makesSignals else { return }
    // If the kernel sent no signals for keys before, the environment of the program gives Ctrl-C and Ctrl-\ their
    // meaning.
    guard found.makesSignals else {
      keys[0x1A] = .stop
      return
    }
    add(.quit, found.character(VQUIT))
    add(.stop, found.character(VSUSP))
    add(.interrupt, found.character(VINTR))
  }

  /// Adds a key, unless the modes disable it.
  private mutating func add(_ signal: CaughtSignal, _ byte: UInt8) {
    if byte != Self.disabled { keys[byte] = signal }
  }

  #if canImport(Darwin)
    private static let disabled: UInt8 = 0xFF
  #else
    private static let disabled: UInt8 = 0
  #endif

  /// Returns the signal of a byte; nil for a byte that is plain input.
  func key(_ byte: UInt8) -> CaughtSignal? { keys[byte] }
}
