public import AppLifecycle
public import PubSub

extension Terminal {
  /// A notification that the user has pressed keys or pasted a text.
  ///
  /// The host posts it on the main actor, on the application's bus, with the terminal as its subject. Keys keep the
  /// order in which the terminal sent them. An event has all input of one read, so a view should handle all its keys
  /// and then draw once.
  ///
  /// If the main actor handles no input, the host stops reading the terminal after about 8 MiB, or some ten thousand
  /// keys. After another second it reads on, so that the keys that make signals still work, and omits everything else.
  /// ``omittedBytes`` of the first event afterwards says how much.
  ///
  ///     bus.subscribe(to: Terminal.DidReceiveInput.self, for: self) { view, event in
  ///       for key in event.keys { view.press(key) }
  ///     }
  ///
  /// The host handles focus reports itself, because they belong to the life cycle, so no event contains them. In raw
  /// mode the same applies to Ctrl-C, Ctrl-Z and `Ctrl-\`.
  public struct DidReceiveInput: MainActorEvent {
    /// The application whose terminal it is.
    public let application: Application
    /// The terminal that sent the input.
    public let terminal: Terminal
    /// The keys, oldest first.
    ///
    /// A character or a sequence that arrives in pieces is one key, and belongs to the event that completes it. A paste
    /// is one key. So an event may have no keys, for example for a part of a paste, a mouse report, or the terminal's
    /// answer to a request of the program.
    public let keys: [Key]
    /// The bytes, as the terminal sent them.
    ///
    /// A control sequence is whole unless the terminal pauses inside it for 3 seconds, or it is longer than 4,096 bytes. A
    /// pasted text, or an answer such as OSC or DCS, may arrive in several events. `ESC[200~` and `ESC[201~` enclose a
    /// pasted text. The host adds `ESC[201~` if the terminal sends no end of a paste for 3 seconds, or if a key that makes
    /// a signal ends the paste.
    public let bytes: [UInt8]
    /// The number of bytes that the host omitted directly before this event; 0 as a rule.
    ///
    /// Such an event has no keys. A paste or an answer before it may have no end.
    public let omittedBytes: Int

    /// Creates the event.
    ///
    /// - Parameters:
    ///   - application: the application whose terminal it is.
    ///   - terminal: the terminal that sent it.
    ///   - keys: the keys, oldest first.
    ///   - bytes: the bytes, as the terminal sent them.
    ///   - omittedBytes: the number of bytes that were omitted before.
    public init(
      application: Application, terminal: Terminal, keys: [Key], bytes: [UInt8] = [], omittedBytes: Int = 0
    ) {
      (self.application, self.terminal) = (application, terminal)
      (self.keys, self.bytes, self.omittedBytes) = (keys, bytes, omittedBytes)
    }
  }

  /// A notification that the screen must be drawn.
  ///
  /// The host has taken the terminal, at the start or after a return, the window's size has changed, or output was
  /// lost.
  ///
  /// The host posts it on the main actor, on the application's bus, with the terminal as its subject. It comes after
  /// the callbacks of its transition.
  public struct NeedsDisplay: MainActorEvent {
    /// The application whose screen it is.
    public let application: Application
    /// The terminal to draw on.
    public let terminal: Terminal
    /// The current size of the window.
    public let size: Size

    /// Creates the event.
    ///
    /// - Parameters:
    ///   - application: the application whose screen it is.
    ///   - terminal: the terminal to draw on.
    ///   - size: the current size of the window.
    public init(application: Application, terminal: Terminal, size: Size) {
      (self.application, self.terminal, self.size) = (application, terminal, size)
    }
  }
}

extension DeactivationReason {
  /// The program has lent its terminal to a child process.
  public static let terminalLent: DeactivationReason = "terminalLent"
}
