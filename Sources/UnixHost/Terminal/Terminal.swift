import Dispatch
import PubSub
import Scheduling

/// The terminal of an application, to which it writes and from which it receives events.
///
/// The terminal posts events on the application's bus, on the main actor: ``DidReceiveInput`` and ``NeedsDisplay``.
/// Each carries the terminal. Any thread may write. Only the host's thread accesses the device.
///
/// A ``TerminalHost`` creates it. A test uses a `RecordingTerminal` of the library `UnixHostTesting` instead.
public final class Terminal: Sendable {
  /// The size of a terminal's window, in characters.
  public struct Size: Sendable, Hashable {
    /// The number of lines.
    public var rows: Int
    /// The number of characters in a line.
    public var columns: Int

    /// Creates a size.
    ///
    /// - Parameters:
    ///   - rows: the number of lines.
    ///   - columns: the number of characters in a line.
    public init(rows: Int, columns: Int) {
      self.rows = rows
      self.columns = columns
    }
  }

  /// The pending output, and the state of the terminal.
  ///
  /// The lock is held only for copying.
  private struct State: Sendable {
    var size = Size(rows: 24, columns: 80)
    var isHeld = false
    var output: [UInt8] = []
    var hasLostOutput = false
    /// What threads in ``Terminal/flush(within:)`` wait for.
    var flushes: [DispatchSemaphore] = []
  }

  /// More than any screen needs; a terminal with this much pending output is not being read.
  private static let outputLimit = 1 << 20

  private let state = Guarded(State())
  let lending = Guarded(Lending())
  private let wake: @Sendable () -> Void
  /// Passes a request for a loan to the host.
  let request: @Sendable (LendingRequest) -> Void

  /// Creates a terminal that the program does not have yet.
  ///
  /// - Parameters:
  ///   - wake: called on the writer's thread, without a lock, when output is added to an empty buffer.
  ///   - request: called on the borrower's thread, without a lock.
  package init(wake: @escaping @Sendable () -> Void, request: @escaping @Sendable (LendingRequest) -> Void) {
    (self.wake, self.request) = (wake, request)
  }

  /// The last known size of the window; 24 lines of 80 characters before the host has read it.
  public var size: Size { state.withLock { $0.size } }

  /// Writes text, in the order of the calls.
  ///
  /// The text is queued, and the host's thread writes it while the program has the terminal. The host drops the text if
  /// the program does not have the terminal, or if 1 MiB waits for a terminal that accepts no output. The host posts
  /// ``NeedsDisplay`` when the program can draw again. A program with a screen of its own has the terminal until a
  /// tear-down begins. A program without a screen can also write lines during a tear-down, until it stops or ends,
  /// unless another job has the terminal. Any thread may call this method.
  ///
  /// A mode of the terminal that the text switches on stays on after the program, unless the host's configuration names
  /// it or the sequence that ends it: `TerminalHost.Configuration.leavingSequences`.
  ///
  /// - Parameter text: the text, with escape sequences; `\n` begins a new line.
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

  /// Waits until the host has written or dropped the queued text, and at most for a time in seconds.
  func flush(within time: Double) {
    let isOver = DispatchSemaphore(value: 0)
    let mustWait = state.withLock { state in
      if state.isHeld { state.flushes.append(isOver) }
      return state.isHeld
    }
    guard mustWait else { return }
    wake()
    _ = isOver.wait(timeout: .now() + time)
  }

  // MARK: For the host

  /// Ends the waits for text that is written or dropped now, unless more is queued.
  func confirmFlush() {
    let ended = state.withLock { state in
      guard state.output.isEmpty else { return [DispatchSemaphore]() }
      defer { state.flushes = [] }
      return state.flushes
    }
    for flush in ended { flush.signal() }
  }

  package func setSize(_ size: Size) { state.withLock { $0.size = size } }

  /// Sets whether text is kept for writing, or dropped.
  package func setHeld(_ isHeld: Bool) {
    state.withLock { state in
      state.isHeld = isHeld
      state.output = []
      state.hasLostOutput = false
    }
  }

  /// Whether text is kept for writing.
  package var isHeld: Bool { state.withLock { $0.isHeld } }

  /// Removes and returns the pending output; after the last one text is dropped.
  package func takeOutput(isLast: Bool = false) -> [UInt8] {
    state.withLock { state in
      if isLast { (state.isHeld, state.hasLostOutput) = (false, false) }
      defer { state.output = [] }
      return state.output
    }
  }

  /// Returns whether output was lost since the last call.
  func takeLoss() -> Bool {
    state.withLock { state in
      defer { state.hasLostOutput = false }
      return state.hasLostOutput
    }
  }
}
