extension Terminal {
  /// A key that the user has pressed, or a text that the user has pasted.
  ///
  /// Compare it with literals and names, and read ``text`` for the text that a key enters:
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
  public struct Key: Hashable, Sendable {
    /// The kind of a key, without modifier keys.
    ///
    /// Later versions may add kinds, so write a `default` in a `switch` over them.
    public enum Kind: Hashable, Sendable {
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
      case paste(String, omittedBytes: Int)
    }

    /// A set of modifier keys that were held, as far as the terminal reports them.
    public struct Modifiers: OptionSet, Hashable, Sendable {
      /// The bits of the set.
      public let rawValue: UInt8

      /// Creates a set from its bits.
      ///
      /// - Parameter rawValue: the bits.
      public init(rawValue: UInt8) { self.rawValue = rawValue }

      /// Shift.
      public static let shift = Modifiers(rawValue: 1 << 0)
      /// Alt, also Option, Meta, Super and Hyper.
      public static let alt = Modifiers(rawValue: 1 << 1)
      /// Control.
      public static let control = Modifiers(rawValue: 1 << 2)
    }

    /// The key without modifier keys, or the pasted text.
    public var kind: Kind
    /// The modifier keys that were held.
    public var modifiers: Modifiers

    /// Creates a key with modifier keys.
    ///
    /// - Parameters:
    ///   - kind: the key without modifier keys, or the pasted text.
    ///   - modifiers: the modifier keys.
    public init(_ kind: Kind, modifiers: Modifiers = []) { (self.kind, self.modifiers) = (kind, modifiers) }

    /// The text that the key enters: its character or the pasted text; nil for other keys, and with Alt or Control.
    public var text: String? {
      switch kind {
      case .character(let character) where modifiers.isSubset(of: .shift): String(character)
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
  public init(extendedGraphemeClusterLiteral value: Character) { self.init(.character(value)) }
}

extension Terminal.Key {
  /// Enter.
  public static let enter = Self(.enter)
  /// The tabulator.
  public static let tab = Self(.tab)
  /// Escape.
  public static let escape = Self(.escape)
  /// The key that deletes the character before the cursor.
  public static let backspace = Self(.backspace)
  /// Insert.
  public static let insert = Self(.insert)
  /// The key that deletes the character at the cursor.
  public static let delete = Self(.delete)
  /// The arrow up.
  public static let up = Self(.up)
  /// The arrow down.
  public static let down = Self(.down)
  /// The arrow to the left.
  public static let left = Self(.left)
  /// The arrow to the right.
  public static let right = Self(.right)
  /// Home.
  public static let home = Self(.home)
  /// End.
  public static let end = Self(.end)
  /// Page up.
  public static let pageUp = Self(.pageUp)
  /// Page down.
  public static let pageDown = Self(.pageDown)

  /// Returns a function key.
  ///
  /// - Parameter number: 1 for F1.
  /// - Returns: the key.
  public static func function(_ number: Int) -> Self { Self(.function(number)) }

  /// Returns the key that enters a character; for a constant character, use a literal instead.
  ///
  /// - Parameter character: the character that the key enters.
  /// - Returns: the key.
  public static func character(_ character: Character) -> Self { Self(.character(character)) }

  /// Returns a paste of a whole text.
  ///
  /// - Parameter text: the text.
  /// - Returns: the paste.
  public static func paste(_ text: String) -> Self { Self(.paste(text, omittedBytes: 0)) }

  /// Returns a key with Control: `.control("c")`, `.control(.left)`.
  ///
  /// - Parameter key: the key, a letter in lower case.
  /// - Returns: the key with Control.
  public static func control(_ key: Self) -> Self { key.adding(.control) }

  /// Returns a key with Alt: `.alt("x")`, `.alt(.enter)`.
  ///
  /// - Parameter key: the key.
  /// - Returns: the key with Alt.
  public static func alt(_ key: Self) -> Self { key.adding(.alt) }

  /// Returns a key with Shift: `.shift(.tab)`, `.shift(.function(5))`.
  ///
  /// - Parameter key: the key; for a character use the shifted character alone.
  /// - Returns: the key with Shift.
  public static func shift(_ key: Self) -> Self { key.adding(.shift) }

  /// Returns the key with additional modifier keys.
  func adding(_ more: Modifiers) -> Self { Self(kind, modifiers: modifiers.union(more)) }

  /// The byte that a terminal sends for the key in its default modes; nil if it sends several, or another key has it.
  var byte: UInt8? {
    switch (kind, modifiers) {
    case (.enter, []): 0x0D
    case (.tab, []): 0x09
    case (.escape, []): 0x1B
    case (.backspace, []): 0x7F
    case (.backspace, .control): 0x08
    case (.character(let character), []): character.asciiValue
    case (.character(let character), .control):
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
    switch kind {
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
    }
  }
}
