extension Terminal {
  /// Makes keys of the bytes that a terminal sends; a state machine, pure.
  ///
  /// The host decodes by itself: ``DidReceiveInput/keys``. This is for input that comes another way, such as the terminal at the
  /// far end of a connection.
  ///
  /// - Bytes may come in pieces of any length. A character or a sequence that is split arrives as one key.
  /// - `ESC`, `ESC [`, `ESC O` and a few more may be a key or the beginning of a sequence. Call ``flush()`` when nothing has come for
  ///   some 50 ms, then they are keys: Escape, Alt-[, Alt-O.
  /// - A sequence that stands for no key is left out whole: reports of the mouse and of the focus, answers to what the program has
  ///   asked the terminal. So are bytes that are no UTF-8. Neither takes a key that follows with it.
  /// - A sequence that is broken off ends at the first byte that cannot be a part of it, and that byte is decoded.
  ///
  /// Each byte is looked at once. Of a sequence 32 bytes are kept at most, of a paste ``pasteLimit``.
  public struct KeyDecoder: Hashable, Sendable {
    private enum State: Hashable, Sendable {
      case ground
      /// Within a character of so many bytes in UTF-8.
      case character(length: Int, modifiers: Key.Modifiers)
      /// After `ESC`.
      case escape
      /// After `ESC [`, and nothing else yet.
      case introducer
      /// After `ESC [` and a parameter.
      case sequence
      /// After `ESC [ [`.
      case linuxFunction
      /// After `ESC [ M`, with so many bytes to come.
      case mouse(missing: Int)
      /// After `ESC O`.
      case singleShift
      /// After `ESC ]`, `ESC P` or `ESC _`, which may begin an answer of the terminal.
      case stringIntroducer(UInt8)
      /// Within an answer that ends with BEL or `ESC \`.
      case string
      /// After an `ESC` in such an answer.
      case stringEscape
      /// Within a pasted text; so many bytes of ``pasteEnd`` have been seen.
      case paste(matched: Int)
    }

    /// How many bytes of a pasted text are kept: 1,048,576.
    ///
    /// What is longer is cut before a character. ``Key/Kind/paste(_:omittedBytes:)`` tells how much was left out.
    public static let pasteLimit = 1 << 20

    private static let escape: UInt8 = 0x1B
    private static let pasteEnd = [escape] + Array("[201~".utf8)
    /// Longer than the parameters of any key.
    private static let parameterLimit = 32

    private var state = State.ground
    /// Whether another `ESC` came right before the sequence: some terminals send that for Alt.
    private var isPrefixed = false
    /// The bytes of the character, of the parameters or of the pasted text that is not complete.
    private var kept: [UInt8] = []
    /// How many bytes of the pasted text were not kept.
    private var omitted = 0

    /// A decoder at the beginning of a terminal's input.
    public init() {}

    /// Whether ``flush()`` would return a key.
    public var isUndecided: Bool {
      switch state {
      case .escape, .introducer, .linuxFunction, .stringIntroducer, .stringEscape: true
      case .singleShift: kept.isEmpty
      case .ground, .character, .sequence, .mouse, .string, .paste: false
      }
    }

    /// Takes a piece of what the terminal sends.
    ///
    /// - Complexity: linear in the number of bytes.
    ///
    /// - Parameter bytes: the piece, of any length.
    /// - Returns: the keys that it completes, oldest first.
    public mutating func decode(_ bytes: [UInt8]) -> [Key] {
      var keys: [Key] = []
      var rest = bytes[...]
      while let byte = rest.first {
        if state == .paste(matched: 0), byte != Self.escape {
          // All up to what may be the end, at once.
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

    /// Decides that nothing follows what may be a key or the beginning of a sequence: it was the key.
    ///
    /// A character, a sequence or a paste that is further on is still continued.
    ///
    /// - Returns: the keys, oldest first; empty if there was nothing to decide.
    public mutating func flush() -> [Key] {
      guard isUndecided else { return [] }
      var keys: [Key] = []
      breakOff(&keys)
      return keys
    }

    /// Forgets a character or a sequence that is not complete, as its rest was thrown away; a paste goes on to its end.
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
      if let key = KeyMap.linuxFunction(byte) { end(key, &keys) } else { beginAnew(byte, &keys) }
    case .mouse where byte == Self.escape: beginAnew(byte, &keys)
    case .mouse(missing: 1): end(nil, &keys)
    case .mouse(let missing): state = .mouse(missing: missing - 1)
    case .singleShift: takeSingleShift(byte, &keys)
    case .stringIntroducer(let introducer):
      if Self.beginsString(introducer, byte) { state = .string } else { beginAnew(byte, &keys) }
    case .string:
      switch byte {
      case Self.escape: state = .stringEscape
      case 0x07: end(nil, &keys)
      // Enter gets through, whatever seemed to be an answer without an end.
      case 0x00..<0x20: beginAnew(byte, &keys)
      default: break
      }
    case .stringEscape:
      if byte == UInt8(ascii: "\\") {
        end(nil, &keys)
      } else {
        state = .escape
        takeEscaped(byte, &keys)
      }
    case .paste(let matched): takePasted(byte, matched, &keys)
    }
  }

  /// Takes a byte that stands for itself.
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
    // UTF-8 says in its first byte how many follow; a terminal of another encoding sends something else.
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
    // What is broken is left out, and holds back no key that follows.
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
      // Of several the last one begins a sequence, and the one before it may belong to that.
      if isPrefixed { keys.append(.escape) }
      isPrefixed = true
    default:
      endPrefix(&keys)
      begin(byte, .alt, &keys)
    }
  }

  private mutating func takeSequence(_ byte: UInt8, _ keys: inout [Terminal.Key]) {
    switch byte {
    case UInt8(ascii: "$") where KeyMap.controlSequence(kept, final: byte) != nil: fallthrough
    case 0x40...0x7E:
      guard byte == UInt8(ascii: "~"), kept == Array("200".utf8) else {
        let isWhole = kept.count <= Self.parameterLimit
        return end(isWhole ? KeyMap.controlSequence(kept, final: byte) : nil, &keys)
      }
      end(nil, &keys)
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
    case 0x40...0x7E: end(KeyMap.singleShift(kept, final: byte), &keys)
    default: beginAnew(byte, &keys)
    }
  }

  /// One more than the limit says that it was too long.
  private mutating func keepParameter(_ byte: UInt8) { if kept.count <= Self.parameterLimit { kept.append(byte) } }

  /// Whether an answer of a terminal begins so, and not Alt and a key with another key after it.
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
  /// Ends a sequence with the key that it stands for, if it does for one.
  private mutating func end(_ key: Terminal.Key?, _ keys: inout [Terminal.Key]) {
    if let key {
      keys.append(isPrefixed ? key.adding(.alt) : key)
      isPrefixed = false
    } else {
      endPrefix(&keys)
    }
    (state, kept) = (.ground, [])
  }

  /// The `ESC` before was no part of the sequence: it was the key.
  private mutating func endPrefix(_ keys: inout [Terminal.Key]) {
    if isPrefixed { keys.append(.escape) }
    isPrefixed = false
  }

  /// Ends a sequence that is not complete; what may have been keys were keys.
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

  /// Takes a byte that cannot be a part of the sequence.
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
    // What looked like the end belongs to the text.
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

  /// Leaves the last character out if its rest was not kept.
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
