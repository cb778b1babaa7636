extension Terminal {
  /// A key that the user has pressed, or a text that the user has pasted.
  ///
  /// Compare it with literals and names. Read ``text`` for the text that a key enters, and ``modifiers`` for the
  /// modifier keys:
  ///
  ///     switch key {
  ///     case "q": quit()
  ///     case .up, .control("p"): selectPrevious()
  ///     case .shift(.tab): focusPrevious()
  ///     default: if let text = key.text { line += text }
  ///     }
  ///
  /// Terminals do not distinguish all keys. Ctrl-I arrives as ``tab``, Ctrl-M and Ctrl-J as ``enter``, Ctrl-H as
  /// ``backspace``, Ctrl-[ as ``escape``. Shift with a character is part of the character: `"A"`, not `.shift("a")`.
  @nonexhaustive public enum Key: Hashable, Sendable {
    /// A key that enters a character, which is one Unicode scalar.
    ///
    /// Terminals send one key for each scalar. With Control, the letter is in lower case.
    case character(Character)
    /// Enter, also on the number pad.
    case enter
    /// The tabulator.
    case tab
    /// Escape.
    case escape
    /// The key that deletes the character before the cursor.
    case backspace
    /// Insert.
    case insert
    /// The key that deletes the character at the cursor.
    case delete
    /// The arrow up.
    case up
    /// The arrow down.
    case down
    /// The arrow to the left.
    case left
    /// The arrow to the right.
    case right
    /// Home.
    case home
    /// End.
    case end
    /// Page up.
    case pageUp
    /// Page down.
    case pageDown
    /// A function key: F1 has the number 1; 35 is the highest that terminals send.
    case function(Int)
    /// A pasted text, and the number of its bytes that were omitted.
    ///
    /// At most 1,048,576 bytes are kept. The line ends are those that the terminal sends, usually carriage returns. The
    /// text may contain control characters. Bytes that are not UTF-8 become U+FFFD.
    case paste(String, omittedBytes: Int = 0)
    /// Another key, with the modifier keys that were held; write it as ``control(_:)``, ``alt(_:)`` or ``shift(_:)``.
    ///
    /// The set is never empty, and the key is not of this case itself.
    indirect case modified(Key, Set<Modifier>)

    /// A modifier key, as far as the terminal reports it.
    public enum Modifier: Hashable, Sendable {
      /// Shift.
      case shift
      /// Alt, also Option, Meta, Super and Hyper.
      case alt
      /// Control.
      case control
    }

    /// Creates a key with modifier keys, of which there may be none.
    package init(_ key: Key, modifiers: Set<Modifier>) {
      self = modifiers.isEmpty ? key : .modified(key, modifiers)
    }

    /// The modifier keys that were held.
    public var modifiers: Set<Modifier> {
      if case .modified(let key, let held) = self { key.modifiers.union(held) } else { [] }
    }

    /// The key without modifier keys.
    package var unmodified: Key { if case .modified(let key, _) = self { key.unmodified } else { self } }

    /// The text that the key enters: its character or the pasted text; nil for other keys, and with Alt or Control.
    public var text: String? {
      switch self {
      case .character(let character), .modified(.character(let character), [.shift]): String(character)
      case .paste(let text, _): text
      default: nil
      }
    }
  }
}

// MARK: - Names

extension Terminal.Key: ExpressibleByExtendedGraphemeClusterLiteral {
  /// Creates the key that enters a character, from a literal.
  ///
  /// - Parameter value: the character.
  public init(extendedGraphemeClusterLiteral value: Character) { self = .character(value) }
}

extension Terminal.Key {
  /// Returns a key with Control: `.control("c")`, `.control(.left)`.
  ///
  /// - Parameter key: the key, a letter in lower case.
  /// - Returns: the key with Control.
  public static func control(_ key: Self) -> Self { key.adding([.control]) }

  /// Returns a key with Alt: `.alt("x")`, `.alt(.enter)`.
  ///
  /// - Parameter key: the key.
  /// - Returns: the key with Alt.
  public static func alt(_ key: Self) -> Self { key.adding([.alt]) }

  /// Returns a key with Shift: `.shift(.tab)`, `.shift(.function(5))`.
  ///
  /// - Parameter key: the key; for a character use the shifted character alone.
  /// - Returns: the key with Shift.
  public static func shift(_ key: Self) -> Self { key.adding([.shift]) }

  /// Returns the key with additional modifier keys.
  func adding(_ more: Set<Modifier>) -> Self { Self(unmodified, modifiers: modifiers.union(more)) }

  /// The byte that a terminal sends for the key in its default modes; nil if it sends several, or another key has it.
  var byte: UInt8? {
    switch self {
    case .enter: 0x0D
    case .tab: 0x09
    case .escape: 0x1B
    case .backspace: 0x7F
    case .control(.backspace): 0x08
    case .character(let character): character.asciiValue
    case .modified(.character(let character), [.control]):
      switch character.asciiValue {
      case UInt8(ascii: " "), UInt8(ascii: "@"): 0x00
      case UInt8(ascii: "?"): 0x7F
      case .some(let byte) where (0x5B...0x7A).contains(byte): byte & 0x1F
      default: nil
      }
    default: nil
    }
  }
}

extension Terminal.Key: CustomStringConvertible {
  /// The name of the key: `q`, `Ctrl-U`, `Alt-Shift-Left`, `F5`, `Space`; for a paste its length.
  public var description: String {
    (modifiers.contains(.control) ? "Ctrl-" : "") + (modifiers.contains(.alt) ? "Alt-" : "")
      + (modifiers.contains(.shift) ? "Shift-" : "") + name
  }

  private var name: String {
    switch unmodified {
    case .character(" "): "Space"
    case .character(let character): modifiers.contains(.control) ? character.uppercased() : String(character)
    case .enter: "Enter"
    case .tab: "Tab"
    case .escape: "Escape"
    case .backspace: "Backspace"
    case .insert: "Insert"
    case .delete: "Delete"
    case .up: "Up"
    case .down: "Down"
    case .left: "Left"
    case .right: "Right"
    case .home: "Home"
    case .end: "End"
    case .pageUp: "PageUp"
    case .pageDown: "PageDown"
    case .function(let number): "F\(number)"
    case .paste(let text, let omitted): "Paste(\(text.utf8.count) bytes" + (omitted > 0 ? ", \(omitted) omitted)" : ")")
    case .modified: ""
    }
  }
}
