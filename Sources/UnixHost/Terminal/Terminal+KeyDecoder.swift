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
  ///   ``breakOff()`` when ``isUnfinished`` and no byte has come for some seconds, as a ``TerminalHost`` does.
  ///
  /// Each byte is examined once. At most 128 bytes of a sequence are kept, and at most ``pasteLimit`` bytes of a paste.
  public struct KeyDecoder: Hashable, Sendable {
    private enum State: Hashable, Sendable {
      case ground
      /// Inside a character with this number of bytes in UTF-8.
      case character(length: Int, modifiers: Key.Modifiers)
      /// After `ESC`.
      case escape
      /// After `ESC [`, without a further byte.
      case introducer
      /// After `ESC [` and a parameter.
      case sequence
      /// After `ESC [ [`.
      case linuxFunction
      /// After `ESC [ M`, with this number of bytes missing.
      case mouse(missing: Int)
      /// After `ESC O`.
      case singleShift
      /// After `ESC ]`, `ESC P` or `ESC _`, which may begin an answer of the terminal.
      case stringIntroducer(UInt8)
      /// Inside an answer that ends with BEL or `ESC \`.
      case string
      /// After an `ESC` inside an answer.
      case stringEscape
      /// Inside a pasted text, after this number of bytes of ``pasteEnd``.
      case paste(matched: Int)
    }

    /// The number of bytes of a pasted text that are kept: 1,048,576.
    ///
    /// A longer text is cut at a character boundary. ``Key/Kind/paste(_:omittedBytes:)`` has the number of omitted
    /// bytes.
    public static let pasteLimit = 1 << 20

    private static let escape: UInt8 = 0x1B
    private static let pasteEnd = [escape] + Array("[201~".utf8)
    /// A limit above the length of the parameters of any key.
    private static let parameterLimit = 128

    private var state = State.ground
    /// Whether another `ESC` came right before the sequence, which some terminals send for Alt.
    private var isPrefixed = false
    /// The bytes of an incomplete character, parameter list or pasted text.
    private var kept: [UInt8] = []
    /// The number of bytes of the pasted text that were not kept.
    private var omitted = 0

    /// Creates a decoder at the beginning of a terminal's input.
    public init() {}

    /// Whether ``flush()`` would return a key.
    public var isUndecided: Bool {
      switch state {
      case .escape, .introducer, .linuxFunction, .stringIntroducer, .stringEscape: true
      case .singleShift: kept.isEmpty
      case .ground, .character, .sequence, .mouse, .string, .paste: false
      }
    }

    /// Whether a character, a sequence, an answer of the terminal or a paste has begun and not ended.
    public var isUnfinished: Bool { state != .ground }

    /// Decodes a piece of the terminal's input.
    ///
    /// - Complexity: linear in the number of bytes.
    ///
    /// - Parameter bytes: the piece, of any length.
    /// - Returns: the keys that the piece completes, oldest first.
    public mutating func decode(_ bytes: [UInt8]) -> [Key] {
      var keys: [Key] = []
      var rest = bytes[...]
      while let byte = rest.first {
        if state == .paste(matched: 0), byte != Self.escape {
          // Process all bytes up to a possible end at once.
          let end = rest.firstIndex(of: Self.escape) ?? rest.endIndex
          keep(rest[..<end])
          rest = rest[end...]
        } else {
          rest = rest.dropFirst()
          take(byte, &keys)
        }
      }
      return keys
    }

    /// Decides that pending bytes, which may be a key or the beginning of a sequence, were the key.
    ///
    /// A character, a sequence or a paste that has advanced further is not affected.
    ///
    /// - Returns: the keys, oldest first; empty if no bytes were pending.
    public mutating func flush() -> [Key] {
      guard isUndecided else { return [] }
      var keys: [Key] = []
      breakOff(&keys)
      return keys
    }

    /// Ends whatever is unfinished, because its rest does not come.
    ///
    /// Bytes that may have been keys are keys. A paste is a key with the text that has come. A character, a sequence
    /// or an answer that has advanced further gives no key. The next byte begins a new key.
    ///
    /// - Returns: the keys, oldest first.
    public mutating func breakOff() -> [Key] {
      var keys: [Key] = []
      if case .paste = state { endPaste(&keys) } else { breakOff(&keys) }
      return keys
    }

    /// Discards an incomplete character or sequence whose rest was discarded; a paste continues to its end.
    mutating func forgetUnfinished() {
      if case .paste = state { return }
      (state, isPrefixed, kept) = (.ground, false, [])
    }
  }
}

// MARK: - Taking a byte

extension Terminal.KeyDecoder {
  private mutating func take(_ byte: UInt8, _ keys: inout [Terminal.Key]) {
    switch state {
    case .ground: begin(byte, [], &keys)
    case .character(let length, let modifiers): takeCharacter(byte, length, modifiers, &keys)
    case .escape: takeEscaped(byte, &keys)
    case .introducer where byte == UInt8(ascii: "["): state = .linuxFunction
    case .introducer where byte == UInt8(ascii: "M"): state = .mouse(missing: 3)
    case .introducer, .sequence: takeSequence(byte, &keys)
    case .linuxFunction:
      if let key = KeyMap.linuxFunction(byte) { end([key], &keys) } else { beginAnew(byte, &keys) }
    case .mouse where byte == Self.escape: beginAnew(byte, &keys)
    case .mouse(missing: 1): end([], &keys)
    case .mouse(let missing): state = .mouse(missing: missing - 1)
    case .singleShift: takeSingleShift(byte, &keys)
    case .stringIntroducer(let introducer):
      if Self.beginsString(introducer, byte) { state = .string } else { beginAnew(byte, &keys) }
    case .string:
      switch byte {
      case Self.escape: state = .stringEscape
      case 0x07: end([], &keys)
      // Control characters such as Enter end a supposed answer without an end.
      case 0x00..<0x20: beginAnew(byte, &keys)
      default: break
      }
    case .stringEscape:
      if byte == UInt8(ascii: "\\") {
        end([], &keys)
      } else {
        state = .escape
        takeEscaped(byte, &keys)
      }
    case .paste(let matched): takePasted(byte, matched, &keys)
    }
  }

  /// Handles a byte that begins a key.
  private mutating func begin(_ byte: UInt8, _ modifiers: Terminal.Key.Modifiers, _ keys: inout [Terminal.Key]) {
    func add(_ kind: Terminal.Key.Kind, _ more: Terminal.Key.Modifiers = []) {
      keys.append(Terminal.Key(kind, modifiers: modifiers.union(more)))
    }
    state = .ground
    switch byte {
    case Self.escape: state = .escape
    case 0x09: add(.tab)
    case 0x0A, 0x0D: add(.enter)
    case 0x08, 0x7F: add(.backspace)
    case 0x00: add(.character(" "), .control)
    case 0x01...0x1A: add(.character(Character(Unicode.Scalar(byte + 0x60))), .control)
    case 0x1C...0x1F: add(.character(Character(Unicode.Scalar(byte + 0x40))), .control)
    case 0x20..<0x7F: add(.character(Character(Unicode.Scalar(byte))))
    // The first byte of a character in UTF-8 has the number of bytes that follow; in other encodings this fails.
    case 0xC2...0xDF: beginCharacter(byte, 2, modifiers)
    case 0xE0...0xEF: beginCharacter(byte, 3, modifiers)
    case 0xF0...0xF4: beginCharacter(byte, 4, modifiers)
    default: break
    }
  }

  private mutating func beginCharacter(_ byte: UInt8, _ length: Int, _ modifiers: Terminal.Key.Modifiers) {
    kept = [byte]
    state = .character(length: length, modifiers: modifiers)
  }

  private mutating func takeCharacter(
    _ byte: UInt8, _ length: Int, _ modifiers: Terminal.Key.Modifiers, _ keys: inout [Terminal.Key]
  ) {
    // Leave out a broken character, but not the key that follows it.
    guard byte & 0xC0 == 0x80 else {
      kept = []
      return begin(byte, [], &keys)
    }
    kept.append(byte)
    guard kept.count == length else { return }
    if let text = String(validating: kept, as: UTF8.self) {
      keys.append(Terminal.Key(.character(Character(text)), modifiers: modifiers))
    }
    kept = []
    state = .ground
  }

  private mutating func takeEscaped(_ byte: UInt8, _ keys: inout [Terminal.Key]) {
    switch byte {
    case UInt8(ascii: "["): state = .introducer
    case UInt8(ascii: "O"): state = .singleShift
    case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "_"): state = .stringIntroducer(byte)
    case Self.escape:
      // Of several `ESC` the last one begins a sequence, and the one before it may belong to that sequence.
      if isPrefixed { keys.append(.escape) }
      isPrefixed = true
    default:
      endPrefix(&keys)
      begin(byte, .alt, &keys)
    }
  }

  private mutating func takeSequence(_ byte: UInt8, _ keys: inout [Terminal.Key]) {
    switch byte {
    case UInt8(ascii: "$") where !KeyMap.controlSequence(kept, final: byte).isEmpty: fallthrough
    case 0x40...0x7E:
      guard byte == UInt8(ascii: "~"), kept == Array("200".utf8) else {
        let isWhole = kept.count <= Self.parameterLimit
        return end(isWhole ? KeyMap.controlSequence(kept, final: byte) : [], &keys)
      }
      end([], &keys)
      state = .paste(matched: 0)
    case 0x20...0x3F:
      keepParameter(byte)
      state = .sequence
    default: beginAnew(byte, &keys)
    }
  }

  private mutating func takeSingleShift(_ byte: UInt8, _ keys: inout [Terminal.Key]) {
    switch byte {
    case 0x30...0x3F: keepParameter(byte)
    case 0x40...0x7E: end(KeyMap.singleShift(kept, final: byte).map { [$0] } ?? [], &keys)
    default: beginAnew(byte, &keys)
    }
  }

  /// Keeps a byte of the parameters, up to one more than the limit, which marks them as too long.
  private mutating func keepParameter(_ byte: UInt8) { if kept.count <= Self.parameterLimit { kept.append(byte) } }

  /// Whether these bytes begin an answer of the terminal, rather than Alt with a key and another key after it.
  private static func beginsString(_ introducer: UInt8, _ byte: UInt8) -> Bool {
    switch introducer {
    case UInt8(ascii: "]"): (0x30...0x39).contains(byte)
    case UInt8(ascii: "P"): (0x30...0x39).contains(byte) || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "!")
    default: byte == UInt8(ascii: "G")
    }
  }
}

// MARK: - Ending what was begun

extension Terminal.KeyDecoder {
  /// Ends a sequence with its keys, if it has any.
  private mutating func end(_ pressed: [Terminal.Key], _ keys: inout [Terminal.Key]) {
    if pressed.isEmpty { endPrefix(&keys) }
    keys += isPrefixed ? pressed.map { $0.adding(.alt) } : pressed
    (state, isPrefixed, kept) = (.ground, false, [])
  }

  /// Adds the Escape key for an `ESC` that did not belong to the sequence.
  private mutating func endPrefix(_ keys: inout [Terminal.Key]) {
    if isPrefixed { keys.append(.escape) }
    isPrefixed = false
  }

  /// Ends an incomplete sequence; bytes that may have been keys become keys.
  private mutating func breakOff(_ keys: inout [Terminal.Key]) {
    endPrefix(&keys)
    switch state {
    case .escape, .stringEscape: keys.append(.escape)
    case .introducer: keys.append(.alt("["))
    case .linuxFunction: keys += [.alt("["), "["]
    case .singleShift where kept.isEmpty: keys.append(.alt("O"))
    case .stringIntroducer(let byte): keys.append(.alt(.character(Character(Unicode.Scalar(byte)))))
    case .ground, .character, .sequence, .mouse, .singleShift, .string, .paste: break
    }
    (state, kept) = (.ground, [])
  }

  /// Ends the sequence, and handles a byte that cannot belong to it.
  private mutating func beginAnew(_ byte: UInt8, _ keys: inout [Terminal.Key]) {
    breakOff(&keys)
    begin(byte, [], &keys)
  }
}

// MARK: - Pasted text

extension Terminal.KeyDecoder {
  private mutating func takePasted(_ byte: UInt8, _ matched: Int, _ keys: inout [Terminal.Key]) {
    if byte == Self.pasteEnd[matched] {
      state = .paste(matched: matched + 1)
      if matched + 1 == Self.pasteEnd.count { endPaste(&keys) }
      return
    }
    // The supposed end belongs to the text.
    keep(Self.pasteEnd[..<matched])
    let beginsEnd = byte == Self.escape
    if !beginsEnd { keep([byte]) }
    state = .paste(matched: beginsEnd ? 1 : 0)
  }

  private mutating func endPaste(_ keys: inout [Terminal.Key]) {
    if omitted > 0 { cutBeforeCharacter() }
    keys.append(Terminal.Key(.paste(String(decoding: kept, as: UTF8.self), omittedBytes: omitted)))
    (state, kept, omitted) = (.ground, [], 0)
  }

  /// Removes the last character if its rest was not kept.
  private mutating func cutBeforeCharacter() {
    let continuations = kept.reversed().prefix { $0 & 0xC0 == 0x80 }.count
    guard continuations < 4, continuations < kept.count else { return }
    let first = kept[kept.count - 1 - continuations]
    let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1
    guard continuations + 1 < length else { return }
    kept.removeLast(continuations + 1)
    omitted += continuations + 1
  }

  private mutating func keep(_ bytes: ArraySlice<UInt8>) {
    let room = omitted > 0 ? 0 : Self.pasteLimit - kept.count
    kept += bytes.prefix(room)
    omitted += max(0, bytes.count - room)
  }
}
