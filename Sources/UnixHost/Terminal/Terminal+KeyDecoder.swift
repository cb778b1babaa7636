extension Terminal {
  /// A decoder that turns the bytes of a terminal into keys; a pure state machine.
  ///
  /// The host decodes the input of its terminal (``DidReceiveInput/keys``). Use the decoder for other input, such as
  /// that of a terminal at the other end of a connection.
  ///
  /// - Bytes may come in pieces of any length. A split character or sequence is decoded as one key.
  /// - `ESC`, `ESC [`, `ESC O` and a few more may be a key or the beginning of a sequence. Call ``flush()`` when no
  ///   byte has come for about 50 ms; then they are the keys Escape, Alt-[ and Alt-O.
  /// - A sequence that is not a key gives no key: a report of the mouse or the focus, the release of a key, or the
  ///   terminal's answer to a request of the program. Bytes that are not UTF-8 give no key, either. A key that follows
  ///   is not lost.
  /// - An incomplete sequence ends at the first byte that cannot belong to it, and that byte is decoded by itself.
  /// - A paste ends with its end, `ESC [ 201 ~`. If the connection breaks inside it, its end never comes. Call
  ///   ``breakOff()`` when no byte has come for some seconds, as a ``TerminalHost`` does.
  ///
  /// Each byte is examined once. At most 4,096 bytes of a sequence are kept, and at most 1,048,576 bytes
  /// of a paste.
  public struct KeyDecoder: Hashable, Sendable {
    /// The number of bytes of a pasted text that are kept; a longer text is cut at a character boundary.
    package static let pasteLimit = 1 << 20

    private var grammar = TerminalGrammar()
    /// The bytes of an incomplete character in UTF-8.
    private var character: [UInt8] = []
    /// Whether the character was entered with Alt.
    private var characterHasAlt = false
    /// The bytes of a pasted text that are kept.
    private var pasted: [UInt8] = []
    /// The number of bytes of the pasted text that were not kept.
    private var omitted = 0

    /// Creates a decoder at the beginning of a terminal's input.
    public init() {}

    /// Whether ``flush()`` would return a key.
    package var isUndecided: Bool { grammar.isUndecided }

    /// Whether a character, a sequence, an answer of the terminal or a paste has begun and not ended.
    package var isUnfinished: Bool { grammar.isUnfinished || !character.isEmpty }

    /// Decodes a piece of the terminal's input.
    ///
    /// - Complexity: linear in the number of bytes.
    ///
    /// - Parameter bytes: the piece, of any length.
    /// - Returns: the keys that the piece completes, oldest first.
    public mutating func decode(_ bytes: [UInt8]) -> [Key] {
      var keys: [Key] = []
      var tokens: [TerminalGrammar.Token] = []
      var rest = bytes[...]
      while let byte = rest.first {
        // Leave out a broken character, but not the key that follows it.
        if byte & 0xC0 != 0x80 { forgetCharacter() }
        grammar.take(&rest, &tokens)
        for token in tokens { take(token, &keys) }
        tokens.removeAll(keepingCapacity: true)
      }
      return keys
    }

    /// Decides that pending bytes, which may be a key or the beginning of a sequence, were the key.
    ///
    /// A character, a sequence or a paste that has advanced further is not affected.
    ///
    /// - Returns: the keys, oldest first; empty if no bytes were pending.
    public mutating func flush() -> [Key] { isUndecided ? breakOff() : [] }

    /// Ends whatever is unfinished, because its rest does not come.
    ///
    /// Bytes that may have been keys are keys. A paste is a key with the text that has come. A character, a sequence
    /// or an answer that has advanced further gives no key. The next byte begins a new key.
    ///
    /// - Returns: the keys, oldest first.
    public mutating func breakOff() -> [Key] {
      forgetCharacter()
      var keys: [Key] = []
      var tokens: [TerminalGrammar.Token] = []
      grammar.breakOff(&tokens)
      for token in tokens { take(token, &keys) }
      return keys
    }

    /// Discards an incomplete character or sequence whose rest was discarded; a paste continues to its end.
    package mutating func forgetUnfinished() {
      forgetCharacter()
      if !grammar.isInPaste { grammar = TerminalGrammar() }
    }
  }
}

// MARK: - Keys

extension Terminal.KeyDecoder {
  private mutating func take(_ token: TerminalGrammar.Token, _ keys: inout [Terminal.Key]) {
    switch token {
    case .byte(let byte, let hasAlt): take(byte, hasAlt: hasAlt, &keys)
    case .keys(let pressed, let hasAlt): keys += hasAlt ? pressed.map { $0.adding([.alt]) } : pressed
    case .focus, .pasteBegins: break
    case .pasted(let text): keep(text)
    case .pasteEnds: endPaste(&keys)
    }
  }

  private mutating func take(_ byte: UInt8, hasAlt: Bool, _ keys: inout [Terminal.Key]) {
    func add(_ key: Terminal.Key) { keys.append(hasAlt ? .alt(key) : key) }
    switch byte {
    case TerminalGrammar.escape: add(.escape)
    case 0x09: add(.tab)
    case 0x0A, 0x0D: add(.enter)
    case 0x08, 0x7F: add(.backspace)
    case 0x00: add(.control(" "))
    case 0x01...0x1A: add(.control(.character(Character(Unicode.Scalar(byte + 0x60)))))
    case 0x1C...0x1F: add(.control(.character(Character(Unicode.Scalar(byte + 0x40)))))
    case 0x20..<0x7F: add(.character(Character(Unicode.Scalar(byte))))
    case 0xC2...0xF4: (character, characterHasAlt) = ([byte], hasAlt)
    case 0x80...0xBF where !character.isEmpty: continueCharacter(byte, &keys)
    // These bytes are not UTF-8.
    default: break
    }
  }

  private mutating func continueCharacter(_ byte: UInt8, _ keys: inout [Terminal.Key]) {
    character.append(byte)
    guard character.count == Self.length(ofCharacter: character[0]) else { return }
    if let text = String(validating: character, as: UTF8.self) {
      let key = Terminal.Key.character(Character(text))
      keys.append(characterHasAlt ? .alt(key) : key)
    }
    forgetCharacter()
  }

  /// Returns the number of bytes that a character has in UTF-8, according to its first byte.
  private static func length(ofCharacter first: UInt8) -> Int {
    first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1
  }

  private mutating func forgetCharacter() { (character, characterHasAlt) = ([], false) }
}

// MARK: - Pasted text

extension Terminal.KeyDecoder {
  private mutating func endPaste(_ keys: inout [Terminal.Key]) {
    if omitted > 0 { cutBeforeCharacter() }
    keys.append(.paste(String(decoding: pasted, as: UTF8.self), omittedBytes: omitted))
    (pasted, omitted) = ([], 0)
  }

  /// Removes the last character if its rest was not kept.
  private mutating func cutBeforeCharacter() {
    let continuations = pasted.reversed().prefix { $0 & 0xC0 == 0x80 }.count
    guard continuations < 4, continuations < pasted.count else { return }
    let first = pasted[pasted.count - 1 - continuations]
    guard continuations + 1 < Self.length(ofCharacter: first) else { return }
    pasted.removeLast(continuations + 1)
    omitted += continuations + 1
  }

  private mutating func keep(_ bytes: ArraySlice<UInt8>) {
    let room = omitted > 0 ? 0 : Self.pasteLimit - pasted.count
    pasted += bytes.prefix(room)
    omitted += max(0, bytes.count - room)
  }
}
