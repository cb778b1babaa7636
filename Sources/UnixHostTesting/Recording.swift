import PubSub
import TerminalEmulation
import UnixHost

/// What was written to a terminal, as bytes and as a screen; any thread.
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

  /// The terminal that is recorded.
  var terminal: Terminal? {
    get { state.withLock { $0.terminal } }
    set { state.withLock { $0.terminal = newValue } }
  }

  /// Takes what was written.
  ///
  /// Within the lock, so that what several threads write is recorded in the order in which it was written.
  func take() {
    state.withLock { state in
      guard let output = state.terminal?.takeOutput() else { return }
      state.output += output
      // As a terminal's driver does, in the program's modes, too (ONLCR): a line feed begins a new line.
      state.screen.feed(output.flatMap { $0 == UInt8(ascii: "\n") ? [UInt8(ascii: "\r"), $0] : [$0] })
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
