import PubSub

/// The application's side of its terminal.
///
/// The terminal posts events on the application's bus, on the main actor: ``DidReceiveInput`` and ``NeedsDisplay``. Each
/// carries the terminal. Any thread may write; the host's own thread does all the work at the device.
///
/// A ``TerminalHost`` makes it. A test makes a `RecordingTerminal` of the library `UnixHostTesting` instead.
public final class Terminal: Sendable {
  /// The size of a terminal's window, in characters.
  public struct Size: Sendable, Hashable {
    /// Lines.
    public var rows: Int
    /// Characters in a line.
    public var columns: Int

    /// A size.
    public init(rows: Int, columns: Int) {
      self.rows = rows
      self.columns = columns
    }
  }

  /// What is written, and what is known.
  ///
  /// The lock is held for copies only.
  private struct State: Sendable {
    var size = Size(rows: 24, columns: 80)
    var isHeld = false
    var output: [UInt8] = []
    var hasLostOutput = false
  }

  /// More than any screen takes; a terminal so far behind is not being read.
  private static let outputLimit = 1 << 20

  private let state = Guarded(State())
  private let wake: @Sendable () -> Void

  /// A terminal that the program does not have yet.
  ///
  /// - Parameter wake: called on the writer's thread, without a lock, when there is output again after there was none.
  package init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

  /// The last known size; 24 lines of 80 characters before the first.
  public var size: Size { state.withLock { $0.size } }

  /// Writes text, in the order of the calls.
  ///
  /// The text is queued, and the host's thread writes it while the program has the terminal. Without the terminal, or if the
  /// terminal takes nothing, the text is dropped, and ``NeedsDisplay`` follows when the program can draw again. A program with
  /// a screen of its own has the terminal until a tear-down begins; a program without a screen writes lines until it stops or
  /// ends.
  public func write(_ text: String) {
    let mustWake = state.withLock { state in
      guard state.isHeld else { return false }
      guard state.output.count < Self.outputLimit else {
        state.hasLostOutput = true
        return false
      }
      let wasEmpty = state.output.isEmpty
      state.output += text.utf8
      return wasEmpty
    }
    if mustWake { wake() }
  }

  // MARK: For the host

  package func setSize(_ size: Size) { state.withLock { $0.size = size } }

  /// From now on text is kept for writing, or dropped.
  package func setHeld(_ isHeld: Bool) {
    state.withLock { state in
      state.isHeld = isHeld
      state.output = []
      state.hasLostOutput = false
    }
  }

  /// Whether text is kept for writing.
  package var isHeld: Bool { state.withLock { $0.isHeld } }

  /// Takes what is to be written.
  package func takeOutput() -> [UInt8] {
    state.withLock { state in
      defer { state.output = [] }
      return state.output
    }
  }

  /// Whether output was lost since this was last asked.
  func takeLoss() -> Bool {
    state.withLock { state in
      defer { state.hasLostOutput = false }
      return state.hasLostOutput
    }
  }
}
