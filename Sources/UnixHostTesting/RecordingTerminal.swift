public import AppLifecycle
import PubSub
import TerminalEmulation
public import UnixHost

/// A terminal for tests: a test presses its keys, and reads the screen that the program has written.
///
/// It needs no host and no device. Of the events of a `TerminalHost` it posts `Terminal.NeedsDisplay` and
/// `Terminal.DidReceiveInput`. When one of its methods returns, every synchronous handler on the main actor has run. It
/// does not drive the life cycle: a test does that itself, for instance with a `SimulatedSystem`.
///
///     let terminal = RecordingTerminal(application: system.application)
///     let view = Tally(bus: system.bus)
///     terminal.requestDisplay()
///     terminal.press(.up, .up)
///     #expect(terminal.lines == ["Count: 2"])
@MainActor public final class RecordingTerminal {
  /// The application; the events are posted on its bus, and carry it.
  public let application: Application
  /// The program's side of the terminal: the events carry it, and the program writes to it, from any thread.
  public let terminal: Terminal

  private let recording: Recording
  private var parser = TerminalInputParser()
  private var decoder = Terminal.KeyDecoder()

  /// Makes a terminal with an empty screen, which the program holds; posts no event.
  ///
  /// - Parameters:
  ///   - application: the application that uses the terminal.
  ///   - size: the size of its window; 24 lines of 80 characters by default.
  /// - Precondition: The size is at least one line of one character.
  public init(application: Application, size: Terminal.Size = Terminal.Size(rows: 24, columns: 80)) {
    let recording = Recording(size: Self.checked(size))
    self.application = application
    self.recording = recording
    terminal = Terminal(wake: { recording.take() }, request: { recording.answer($0) })
    recording.terminal = terminal
    terminal.setSize(size)
    terminal.setHeld(true)
    // As with a host, the keys that raise signals never reach the program.
    parser.signalKeys = .usual
  }

  private static func checked(_ size: Terminal.Size) -> Terminal.Size {
    precondition(size.rows > 0 && size.columns > 0, "a terminal needs at least one row and one column")
    return size
  }
}

// MARK: - The output of the program

extension RecordingTerminal {
  /// The output of the program, including escape sequences, since the beginning or the latest ``clearOutput()``.
  public var output: String { String(decoding: recording.output, as: UTF8.self) }

  /// Clears ``output``; the screen does not change.
  ///
  /// Use it to test the output of a single step.
  public func clearOutput() { recording.clearOutput() }

  /// The text on the screen: its rows from the top to the last one that is not empty, without trailing blanks.
  ///
  /// The screen interprets cursor movement, erasing, insertion and deletion of lines and characters, scrolling regions,
  /// the alternate screen, wrapping and wide characters. It ignores colors and other attributes, which ``output``
  /// contains, and unknown sequences.
  public var lines: [String] {
    let lines = recording.screen.lines
    return Array(lines[..<(lines.lastIndex { !$0.isEmpty }.map { $0 + 1 } ?? 0)])
  }

  /// The position of the cursor, counted from 0 at the top left.
  public var cursor: (row: Int, column: Int) { recording.screen.cursor }

  /// Whether the cursor is shown.
  public var showsCursor: Bool { recording.screen.showsCursor }
}

// MARK: - The actions of the terminal

extension RecordingTerminal {
  /// Asks the program to draw: `Terminal.NeedsDisplay`, as after a launch or `fg`.
  ///
  /// If the program does not hold the terminal, it gets the terminal again, with an empty screen.
  public func requestDisplay() {
    if !terminal.isHeld {
      recording.clearScreen()
      terminal.setHeld(true)
      // As with a host, what was begun before does not take the next key for its rest, and a paste ends.
      take(parser.reset())
      decoder.forgetUnfinished()
    }
    application.bus.post(
      Terminal.NeedsDisplay(application: application, terminal: terminal, size: terminal.size), from: terminal)
  }

  /// Takes the terminal from the program, as Ctrl-Z does; its output is dropped until ``requestDisplay()``.
  public func takeAway() { terminal.setHeld(false) }

  /// Gives the window another size, and asks the program to draw: `Terminal.NeedsDisplay`.
  ///
  /// The contents of the screen stay, cut off at the right and at the bottom. While the program does not hold the
  /// terminal, no event is posted.
  ///
  /// - Parameter size: the new size.
  /// - Precondition: The size is at least one line of one character.
  public func resize(to size: Terminal.Size) {
    recording.resize(to: Self.checked(size))
    terminal.setSize(size)
    if terminal.isHeld { requestDisplay() }
  }

  /// Presses keys, and posts them as one `Terminal.DidReceiveInput`, with the bytes that xterm sends for them.
  ///
  /// A key that may also begin a sequence, such as Escape, is posted as an event of its own, and followed by a pause.
  /// The keys before and after it are other events.
  ///
  /// Ctrl-C, Ctrl-Z and `Ctrl-\` belong to the host, and are not posted. Some keys have the same bytes as others in
  /// xterm, and are posted as those: `.control("i")` is posted as `.tab`.
  ///
  /// - Parameter keys: the keys, or texts to paste.
  public func press(_ keys: Terminal.Key...) {
    var piece: [UInt8] = []
    for key in keys {
      piece += key.bytes
      var alone = Terminal.KeyDecoder()
      _ = alone.decode(key.bytes)
      if alone.isUndecided {
        send(piece)
        piece = []
      }
    }
    if !piece.isEmpty { send(piece) }
  }

  /// Types text: each Unicode scalar is a key, and a line feed is Enter.
  ///
  /// - Parameter text: the text.
  public func type(_ text: String) { send(Array(text.utf8)) }

  /// Pastes text: one key, `Terminal.Key.paste(_:)`.
  ///
  /// - Parameter text: the text. It cannot contain `ESC[201~`, which ends a paste.
  public func paste(_ text: String) { press(.paste(text)) }

  /// Sends bytes as a terminal does, in one piece, with a pause afterward.
  ///
  /// Because of the pause, an `ESC` at the end is the Escape key. The next call may continue any other incomplete
  /// character or sequence. Reports of the keyboard focus are left out, because a host turns them into inputs of the
  /// life cycle. While the program does not hold the terminal, no event is posted.
  ///
  /// - Parameter bytes: the bytes.
  public func send(_ bytes: [UInt8]) {
    guard terminal.isHeld else { return }
    take(parser.feed(bytes) + parser.flush())
  }

  private func take(_ elements: [TerminalInputParser.Element]) {
    for element in elements {
      if case .bytes(let bytes) = element {
        post(decoder.decode(bytes) + decoder.flush(), bytes)
      } else {
        // As with a host, a report ends what the decoder has begun.
        let keys = decoder.breakOff()
        if !keys.isEmpty { post(keys, []) }
      }
    }
  }

  private func post(_ keys: [Terminal.Key], _ bytes: [UInt8]) {
    application.bus.post(
      Terminal.DidReceiveInput(application: application, terminal: terminal, keys: keys, bytes: bytes), from: terminal)
  }
}
