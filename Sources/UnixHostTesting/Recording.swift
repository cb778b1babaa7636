import Scheduling
import TerminalEmulation
import UnixHost

/// The output of a terminal, as bytes and as a screen; any thread may use it.
final class Recording: Sendable {
  private struct State: Sendable {
    var output: [UInt8] = []
    var screen: TerminalScreen
    weak var terminal: Terminal?
  }

  private let state: Guarded<State>

  init(size: Terminal.Size) {
    state = Guarded(State(screen: TerminalScreen(rows: size.rows, columns: size.columns)))
  }

  /// The recorded terminal.
  var terminal: Terminal? {
    get { state.withLock { $0.terminal } }
    set { state.withLock { $0.terminal = newValue } }
  }

  /// Takes the terminal's new output.
  ///
  /// It holds the lock meanwhile, so that the writes of several threads are recorded in the order in which they were
  /// made.
  func take() {
    state.withLock { state in
      guard let output = state.terminal?.takeOutput() else { return }
      state.output += output
      // Convert each line feed to carriage return and line feed, as the terminal's driver does (ONLCR), also in the
      // program's modes.
      state.screen.feed(output.flatMap { $0 == UInt8(ascii: "\n") ? [UInt8(ascii: "\r"), $0] : [$0] })
    }
  }

  /// Lends the terminal at once, and takes it back when the test asks for a display.
  func answer(_ request: Terminal.LendingRequest) {
    guard let terminal else { return }
    switch request {
    case .begin:
      let isHeld = terminal.isHeld
      terminal.setHeld(false)
      terminal.lendingDidBegin(isHeld ? nil : .notHeld)
    case .bringToForeground: break
    case .end: terminal.lendingDidEnd()
    }
  }

  var output: [UInt8] { state.withLock { $0.output } }
  var screen: TerminalScreen { state.withLock { $0.screen } }

  func clearOutput() { state.withLock { $0.output = [] } }

  func clearScreen() {
    state.withLock { $0.screen = TerminalScreen(rows: $0.screen.rows, columns: $0.screen.columns) }
  }

  func resize(to size: Terminal.Size) {
    state.withLock { $0.screen.resize(rows: size.rows, columns: size.columns) }
  }
}
