public import AppLifecycle
import PubSub
import TerminalEmulation
public import UnixHost

/// A terminal for tests: it takes keys from the test, and shows what the program writes.
///
/// It needs no host and no device. What it posts is what a `TerminalHost` posts, and every handler on the main actor has run when a
/// method returns. The life cycle is not its affair: a test drives that itself, with a `SimulatedSystem` for instance.
///
///     let terminal = RecordingTerminal(application: system.application)
///     let view = Tally(bus: system.bus)
///     terminal.requestDisplay()
///     terminal.press(.up, .up)
///     #expect(terminal.lines == ["Count: 2"])
@MainActor public final class RecordingTerminal {
  /// The application on whose bus the events are posted, and which they carry.
  public let application: Application
  /// The program's side: what the events carry, and what the program writes to, from any thread.
  public let terminal: Terminal

  private let recording: Recording
  private var parser = TerminalInputParser()
  private var decoder = Terminal.KeyDecoder()

  /// A terminal that the program has, with an empty screen; nothing has been posted yet.
  ///
  /// - Parameters:
  ///   - application: the application whose terminal it is.
  ///   - size: how large its window is; 24 lines of 80 characters if left out.
  /// - Precondition: the size is at least one line of one character.
  public init(application: Application, size: Terminal.Size = Terminal.Size(rows: 24, columns: 80)) {
    let recording = Recording(size: Self.checked(size))
    self.application = application
    self.recording = recording
    terminal = Terminal { recording.take() }
    recording.terminal = terminal
    terminal.setSize(size)
    terminal.setHeld(true)
    // As a host sets it up: what such a terminal sends for them never reaches the program.
    parser.signalKeys = .usual
  }

  private static func checked(_ size: Terminal.Size) -> Terminal.Size {
    precondition(size.rows > 0 && size.columns > 0, "a terminal has at least one line of one character")
    return size
  }
}

// MARK: - What the program has written

extension RecordingTerminal {
  /// All that the program has written, escape sequences included, since the beginning or since the latest ``clearOutput()``.
  public var output: String { String(decoding: recording.output, as: UTF8.self) }

  /// Forgets ``output``; the screen stays as it is.
  ///
  /// For a test of what one step writes.
  public func clearOutput() { recording.clearOutput() }

  /// What the screen shows: its rows from the top to the last one that is not empty, without the blanks at their ends.
  ///
  /// Cursor movement, erasing, insertion and deletion of lines and characters, scrolling regions, the alternate screen, wrapping and wide
  /// characters are drawn. Colors and other attributes are not: ``output`` has them. Unknown sequences show nothing.
  public var lines: [String] {
    let lines = recording.screen.lines
    return Array(lines[..<(lines.lastIndex { !$0.isEmpty }.map { $0 + 1 } ?? 0)])
  }

  /// Where the cursor stands, counted from 0 at the top left.
  public var cursor: (row: Int, column: Int) { recording.screen.cursor }

  /// Whether the cursor is shown.
  public var showsCursor: Bool { recording.screen.showsCursor }
}

// MARK: - What the terminal does

extension RecordingTerminal {
  /// Asks the program to draw: `Terminal.NeedsDisplay`, as after a launch or `fg`.
  ///
  /// A program that has given the terminal back gets it again, with an empty screen.
  public func requestDisplay() {
    if !terminal.isHeld {
      recording.clearScreen()
      terminal.setHeld(true)
    }
    application.bus.post(
      Terminal.NeedsDisplay(application: application, terminal: terminal, size: terminal.size), from: terminal)
  }

  /// Takes the terminal from the program, as Ctrl-Z does: what it writes is dropped until ``requestDisplay()``.
  public func takeAway() { terminal.setHeld(false) }

  /// Gives the window another size, and asks the program to draw: `Terminal.NeedsDisplay`.
  ///
  /// What is on the screen stays, cut off at the right and at the bottom. While the program does not have the terminal, nothing is posted.
  ///
  /// - Parameter size: the new size.
  /// - Precondition: it is at least one line of one character.
  public func resize(to size: Terminal.Size) {
    recording.resize(to: Self.checked(size))
    terminal.setSize(size)
    if terminal.isHeld { requestDisplay() }
  }

  /// Presses keys, one after another, in one piece: `Terminal.DidReceiveInput` with these keys and the bytes that xterm sends.
  ///
  /// A key that may also be the beginning of a sequence ends a piece: a pause follows Escape, and the next key is posted by itself.
  ///
  /// Ctrl-C, Ctrl-Z and Ctrl-\ are the host's, and are not posted. Keys that xterm cannot send are posted as the key that its bytes mean:
  /// `.control("i")` is `.tab`.
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

  /// Types text: each character is a key, a line feed is Enter.
  ///
  /// - Parameter text: the text.
  public func type(_ text: String) { send(Array(text.utf8)) }

  /// Pastes text: one key, `Terminal.Key.paste(_:)`.
  ///
  /// - Parameter text: the text. The end of a paste, `ESC[201~`, cannot be in it.
  public func paste(_ text: String) { press(.paste(text)) }

  /// Sends bytes as a terminal does, in one piece, with a pause after it.
  ///
  /// Because of the pause an `ESC` at their end is the key. A character or a sequence that is further on may be continued by the next
  /// call. Reports of the keyboard focus are left out: with a host they are the life cycle's. While the program does not have the
  /// terminal, nothing is posted.
  ///
  /// - Parameter bytes: the bytes.
  public func send(_ bytes: [UInt8]) {
    guard terminal.isHeld else { return }
    for element in parser.feed(bytes) + parser.flush() {
      guard case .bytes(let bytes) = element else { continue }
      let keys = decoder.decode(bytes) + decoder.flush()
      application.bus.post(
        Terminal.DidReceiveInput(application: application, terminal: terminal, keys: keys, bytes: bytes),
        from: terminal)
    }
  }
}
