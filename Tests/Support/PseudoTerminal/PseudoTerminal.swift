import CPseudoTerminal
import Glibc
// Tests read the screen without a word about where it comes from.
@_exported public import TerminalEmulation

/// A program, a shell as a rule, under a pseudo-terminal of its own.
///
/// A thread reads what the program prints, keeps it as text and draws it on a ``TerminalScreen``. Tests wait for text, for the
/// screen or for an event of the child, always with a deadline, and never sleep. ``run(_:environment:rows:columns:directory:_:)``
/// ends everything that was started on the terminal, also when the test fails.
///
/// The program leads a session whose controlling terminal this is; without a shell in between it is therefore orphaned, and
/// the kernel refuses to stop it from the keyboard.
package final class PseudoTerminal: Sendable {
  struct Contents: Sendable {
    var bytes: [UInt8] = []
    /// How far ``PseudoTerminal/wait(for:within:)`` has come.
    var consumed = 0
    private(set) var screen: TerminalScreen
    /// How many of the bytes have been drawn on the screen.
    private var drawn = 0
    /// The test lets the output lie: see ``PseudoTerminal/pauseReading()``.
    var isPaused = false
    /// Whether the reading thread reads; it follows `isPaused`.
    var isReading = true
    /// Nothing more will come: all programs have left the terminal, or the test hung up.
    var isClosed = false
    /// The master, until it is closed.
    var master: Int32?
    /// The harness's own hold on the slave while the child lives.
    ///
    /// Without it, reading the master would fail whenever no program happens to have the slave open; with it for longer, the
    /// end of all output could not be seen.
    var hold: Int32?

    init(screen: TerminalScreen, master: Int32, hold: Int32) {
      (self.screen, self.master, self.hold) = (screen, master, hold)
    }

    /// Draws what was printed since the last look.
    ///
    /// Not as soon as it is read: drawing much takes longer than a program that ends waits for its terminal.
    @discardableResult mutating func draw() -> TerminalScreen {
      screen.feed(bytes[drawn...])
      drawn = bytes.count
      return screen
    }

    mutating func resize(rows: Int, columns: Int) {
      draw()
      screen.resize(rows: rows, columns: columns)
    }
  }

  /// The path of the program's side.
  package let slave: String
  /// The program.
  package let child: ChildProcess
  /// The modes before the program was started.
  package let initialModes: TerminalModes?
  let contents: Monitor<Contents>
  private let waker: Waker
  /// Makes the reading thread look at `isPaused`.
  let attention: Waker

  /// Starts a program on a new terminal of the given size.
  ///
  /// - Note: ``end()`` must follow; ``run(_:environment:rows:columns:directory:_:)`` sees to that.
  package init(
    _ arguments: [String], environment: [String: String] = [:], rows: Int = 24, columns: Int = 80,
    directory: String? = nil
  ) throws {
    var name = [CChar](repeating: 0, count: 64)
    let master = cpt_open_terminal(&name, name.count, UInt16(rows), UInt16(columns))
    guard master >= 0 else { throw SystemError("posix_openpt") }
    slave = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    let hold = open(slave, O_RDWR | O_NOCTTY | O_CLOEXEC)
    initialModes = TerminalModes(of: master)
    let contents = Monitor(
      Contents(screen: TerminalScreen(rows: rows, columns: columns), master: master, hold: hold)
    ) {
      var contents = $0
      return
        "\(contents.draw())\nand as bytes \(String(decoding: $0.bytes.suffix(2_000), as: UTF8.self).debugDescription)"
    }
    self.contents = contents
    do {
      let (waker, attention) = (try Waker(), try Waker())
      (self.waker, self.attention) = (waker, attention)
      child = try ChildProcess(
        arguments, environment: bareEnvironment.merging(environment) { $1 }, terminal: slave, directory: directory
      ) {
        contents.update { $0.letGo() }
      }
      startThread { Self.read(master, waker, attention, contents) }
    } catch {
      close(master)
      close(hold)
      throw error
    }
  }

  deinit {
    close(waker.descriptor)
    close(attention.descriptor)
  }

  /// Runs `body` with a program on a new terminal, then kills every process of its session and closes the terminal.
  package static func run<Result>(
    _ arguments: [String], environment: [String: String] = [:], rows: Int = 24, columns: Int = 80,
    directory: String? = nil, _ body: (PseudoTerminal) async throws -> Result
  ) async throws -> Result {
    let terminal = try PseudoTerminal(
      arguments, environment: environment, rows: rows, columns: columns, directory: directory)
    return try await running {
      try await body(terminal)
    } finally: {
      await terminal.end()
    }
  }

  /// Kills every process of the terminal's session, waits until all have ended, and closes the terminal.
  package func end() async {
    await ProcessTable.end(session: child.pid)
    await child.end()
    await hangUp()
  }

  private static func read(_ master: Int32, _ waker: Waker, _ attention: Waker, _ contents: Monitor<Contents>) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var isReading = true
    while let source = waker.waitForInput(onEither: attention.descriptor, or: isReading ? master : nil) {
      if source == attention.descriptor {
        attention.clear()
        isReading = contents.update {
          $0.isReading = !$0.isPaused
          return $0.isReading
        }
        continue
      }
      let count = Glibc.read(master, &buffer, buffer.count)
      if count > 0 {
        let chunk = buffer[0..<count]
        contents.update {
          $0.bytes += chunk
        }
      } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
        // All programs have left: the terminal stays, and its modes can still be read, until the test hangs up.
        contents.update { $0.isClosed = true }
        waker.wait()
        break
      }
    }
    // Closed here and nowhere else: closing a descriptor that another thread polls would neither wake it nor hang up.
    contents.update {
      close(master)
      $0.master = nil
      $0.isClosed = true
      $0.letGo()
    }
  }

  // MARK: The user's side

  /// Types text as it is.
  package func send(_ text: String) { send(Array(text.utf8)) }

  /// Types bytes.
  package func send(_ bytes: [UInt8]) {
    // A terminal that is gone takes no keys; the wait that follows then tells what there was.
    guard let master = contents.state.master else { return }
    try? writeAll(bytes, to: master)
  }

  /// Types a line of text and the return key.
  package func line(_ text: String) { send(text + "\r") }

  /// Presses Ctrl and a letter: `control("Z")`.
  package func control(_ letter: Character) { send([letter.asciiValue! & 0x1F]) }

  /// Gives the window another size; the kernel tells the foreground group.
  package func resize(rows: Int, columns: Int) {
    contents.update {
      $0.resize(rows: rows, columns: columns)
      if let master = $0.master { _ = cpt_set_window_size(master, UInt16(rows), UInt16(columns)) }
    }
  }

  /// Closes the terminal's own side, as a user who closes the window, and returns when that has happened.
  package func hangUp() async {
    waker.wake()
    // The reading thread answers its waker at once; only a lost one would make this wait end in an error.
    try? await contents.wait(for: "the hang-up", within: .seconds(30)) { $0.master == nil ? () : nil }
  }

  // MARK: What is seen

  /// Everything printed so far, control sequences included.
  package var text: String { String(decoding: contents.state.bytes, as: UTF8.self) }

  /// The screen as it looks now.
  package var screen: TerminalScreen { contents.update { $0.draw() } }

  /// Waits for text after what was waited for before, and returns all up to its end.
  @discardableResult package func wait(
    for wanted: String, within limit: Duration = .seconds(240)
  ) async throws -> String {
    let pattern = Array(wanted.utf8)
    return try await contents.wait(for: wanted.debugDescription, within: limit) { contents in
      let fresh = contents.bytes[contents.consumed...]
      guard let found = fresh.firstRange(of: pattern) else {
        if contents.isClosed {
          throw WaitFailed(
            cause: .ended, wanted: wanted.debugDescription, found: String(decoding: fresh, as: UTF8.self))
        }
        return nil
      }
      let start = contents.consumed
      contents.consumed = found.upperBound
      return String(decoding: contents.bytes[start..<found.upperBound], as: UTF8.self)
    }
  }

  /// Waits until the screen satisfies a condition, and returns the screen as it was then.
  @discardableResult package func waitForScreen(
    _ wanted: String, within limit: Duration = .seconds(240),
    where isWanted: @escaping @Sendable (TerminalScreen) -> Bool
  ) async throws -> TerminalScreen {
    try await contents.wait(for: "a screen with \(wanted)", within: limit) { contents in
      let screen = contents.draw()
      if isWanted(screen) { return screen }
      if contents.isClosed {
        throw WaitFailed(cause: .ended, wanted: "a screen with \(wanted)", found: "\(screen)")
      }
      return nil
    }
  }

  /// Waits until some line of the screen contains `text`, and returns the screen as it was then.
  @discardableResult package func waitForScreen(
    containing text: String, within limit: Duration = .seconds(240)
  ) async throws -> TerminalScreen {
    try await waitForScreen(text.debugDescription, within: limit) { $0.contains(text) }
  }

  /// Waits until all programs have left the terminal and all that they printed has been read.
  package func outputHasEnded(within limit: Duration = .seconds(240)) async throws {
    try await contents.wait(for: "the end of all output", within: limit) { $0.isClosed ? () : nil }
  }

  /// The terminal's modes as its programs have set them, read from the user's side; nil once it is closed.
  package var modes: TerminalModes? {
    guard let master = contents.state.master else { return nil }
    return TerminalModes(of: master)
  }

  /// The process group in the foreground; nil once the terminal is closed.
  package var foregroundGroup: Int32? {
    guard let master = contents.state.master else { return nil }
    let group = tcgetpgrp(master)
    return group > 0 ? group : nil
  }
}

extension PseudoTerminal.Contents {
  fileprivate mutating func letGo() {
    if let hold { close(hold) }
    hold = nil
  }
}
