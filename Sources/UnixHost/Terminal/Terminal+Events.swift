public import AppLifecycle
public import PubSub

extension Terminal {
  /// Keys were pressed, or a text was pasted.
  ///
  /// Posted on the main actor, on the application's bus, from the terminal, in the order in which the terminal sent them. An
  /// event has everything that was read at once, so a view handles all its keys and then draws once.
  ///
  ///     bus.subscribe(self, to: Terminal.DidReceiveInput.self) { view, event in
  ///       for key in event.keys { view.press(key) }
  ///     }
  ///
  /// The host handles focus reports itself, as they belong to the life cycle; no event has them. In raw mode the same holds for
  /// Ctrl-C, Ctrl-Z and Ctrl-\.
  public struct DidReceiveInput: MainActorEvent {
    /// The application whose terminal it is.
    public let application: Application
    /// The terminal that sent it.
    public let terminal: Terminal
    /// The keys, oldest first.
    ///
    /// A character or a sequence that arrives in pieces is one key, of the event that completes it; a paste is one key. So an event may
    /// have no keys: for a part of a paste, for a report of the mouse, for an answer to what the program has asked the terminal.
    public let keys: [Key]
    /// The bytes, as the terminal sent them.
    ///
    /// Sequences are whole; a pasted text stands between its brackets, `ESC[200~` and `ESC[201~`, and may arrive in several events.
    public let bytes: [UInt8]

    /// Creates the event.
    ///
    /// - Parameters:
    ///   - application: the application whose terminal it is.
    ///   - terminal: the terminal that sent it.
    ///   - keys: the keys, oldest first.
    ///   - bytes: what the terminal sent.
    public init(application: Application, terminal: Terminal, keys: [Key], bytes: [UInt8] = []) {
      (self.application, self.terminal) = (application, terminal)
      (self.keys, self.bytes) = (keys, bytes)
    }
  }

  /// The screen has to be drawn: the terminal was taken or taken back, its window has another size, or output was lost.
  ///
  /// Posted on the main actor, on the application's bus, from the terminal, after the callbacks of the transition that it belongs to.
  public struct NeedsDisplay: MainActorEvent {
    /// The application whose screen it is.
    public let application: Application
    /// The terminal to draw on.
    public let terminal: Terminal
    /// Its present size.
    public let size: Size

    /// Creates the event.
    ///
    /// - Parameters:
    ///   - application: the application whose screen it is.
    ///   - terminal: the terminal to draw on.
    ///   - size: how large it is now.
    public init(application: Application, terminal: Terminal, size: Size) {
      (self.application, self.terminal, self.size) = (application, terminal, size)
    }
  }
}
