/// The grammar of a terminal's input: plain bytes, escape sequences and pasted text; a pure state machine.
///
/// - A control sequence is `ESC [`, parameters 0x30–0x3F, intermediates 0x20–0x2F, and a final 0x40–0x7E. rxvt also
///   ends the sequence of a key with `$`. `ESC [ I` and `ESC [ O` report the focus.
/// - A single shift is `ESC O`, perhaps the number of the modifier keys, and a final 0x40–0x7E.
/// - A mouse report in the X10 encoding is `ESC [ M` and three bytes of any value except `ESC`.
/// - A function key of Linux's console is `ESC [ [` and a letter.
/// - `ESC` and a byte are that byte with Alt. `ESC` before the sequence of a key is Alt with that key.
/// - An answer of the terminal begins with `ESC ]`, `ESC P` or `ESC _` and a byte that distinguishes it from a key. It
///   ends with BEL or `ESC \`, or before another control character.
/// - A paste is the text from `ESC [ 200 ~` to `ESC [ 201 ~`. Nothing inside it is a sequence.
///
/// A sequence ends at the first byte that cannot belong to it, and the grammar takes that byte by itself. So an `ESC`
/// where the grammar allows none begins a new sequence, as it does on terminals.
struct TerminalGrammar: Hashable, Sendable {
  /// What the next bytes of the input are.
  ///
  /// Sequences without a key give no token: mouse reports, answers, and sequences that were broken off.
  enum Token: Hashable, Sendable {
    /// A byte outside sequences, or with Alt; `ESC` is the Escape key.
    case byte(UInt8, hasAlt: Bool = false)
    /// A sequence with these keys, or with Alt and these keys.
    case keys([Terminal.Key], hasAlt: Bool)
    /// The terminal gained (true) or lost the keyboard focus.
    case focus(Bool)
    /// The beginning of a paste.
    case pasteBegins
    /// A piece of the text of a paste.
    case pasted(ArraySlice<UInt8>)
    /// The end of a paste.
    case pasteEnds
  }

  private enum State: Hashable, Sendable {
    case ground
    /// After `ESC`.
    case escape
    /// After `ESC [` and ``parameters``.
    case controlSequence
    /// After `ESC O` and ``parameters``.
    case singleShift
    /// After `ESC [ [`.
    case linuxFunction
    /// After `ESC [ M`, with this number of bytes missing.
    case mouse(missing: Int)
    /// After `ESC` and this byte, which may begin an answer.
    case answerIntroducer(UInt8)
    case answer
    /// After an `ESC` inside an answer.
    case answerEscape
    /// Inside a paste, after this number of bytes of its end.
    case paste(matched: Int)
  }

  static let escape: UInt8 = 0x1B
  private static let pasteBegin = Array("200".utf8)
  private static let pasteEnd = [escape] + Array("[201~".utf8)
  /// A limit above the length of the parameters of any key, and of the text of an input method.
  private static let parameterLimit = 4096

  private var state = State.ground
  /// Whether another `ESC` came right before the sequence, which some terminals send for Alt.
  private var isPrefixed = false
  /// The bytes between the introducer and the final, up to one more than the limit, which marks them as too long.
  private var parameters: [UInt8] = []

  /// The keys that the bytes of the unfinished sequence are if no byte follows; empty if it has advanced further.
  private var undecided: [Token] {
    switch state {
    case .escape, .answerEscape: [.byte(Self.escape)]
    case .controlSequence where parameters.isEmpty: [.byte(UInt8(ascii: "["), hasAlt: true)]
    case .singleShift where parameters.isEmpty: [.byte(UInt8(ascii: "O"), hasAlt: true)]
    case .linuxFunction: [.byte(UInt8(ascii: "["), hasAlt: true), .byte(UInt8(ascii: "["))]
    case .answerIntroducer(let byte): [.byte(byte, hasAlt: true)]
    case .ground, .controlSequence, .singleShift, .mouse, .answer, .paste: []
    }
  }

  /// Whether the latest bytes may be a key or the beginning of a sequence.
  var isUndecided: Bool { !undecided.isEmpty }

  /// Whether a sequence, an answer or a paste has begun and not ended.
  var isUnfinished: Bool { state != .ground }

  /// The bytes of a paste's end that have not come; empty outside a paste.
  var missingPasteEnd: ArraySlice<UInt8> {
    if case .paste(let matched) = state { Self.pasteEnd[matched...] } else { [] }
  }

  var isInPaste: Bool { if case .paste = state { true } else { false } }

  /// The number of the latest bytes that belong to an unfinished sequence.
  ///
  /// It is 0 inside an answer or a paste, which may have any length, and inside a sequence that is too long for a key.
  var unfinishedLength: Int {
    let length =
      switch state {
      case .ground, .answer, .paste: 0
      case .escape, .answerEscape: 1
      case .answerIntroducer: 2
      case .controlSequence, .singleShift: 2 + parameters.count
      case .linuxFunction: 3
      case .mouse(let missing): 6 - missing
      }
    return isTooLong ? 0 : length + (isPrefixed ? 1 : 0)
  }

  private var isTooLong: Bool { parameters.count > Self.parameterLimit }

  /// Takes the next byte, or all pasted text up to the next `ESC`.
  ///
  /// - Complexity: linear in the number of bytes taken.
  ///
  /// - Parameters:
  ///   - input: the input, not empty, from which the bytes are removed.
  ///   - tokens: the tokens to which the new ones are added.
  mutating func take(_ input: inout ArraySlice<UInt8>, _ tokens: inout [Token]) {
    if case .paste(let matched) = state { return takePasted(&input, matched, &tokens) }
    guard let byte = input.popFirst() else { return }
    if byte == Self.escape { return takeEscape(&tokens) }
    switch state {
    case .escape, .answerEscape: takeEscaped(byte, &tokens)
    case .controlSequence: takeControl(byte, &tokens)
    case .singleShift:
      switch byte {
      case 0x30...0x3F: keep(byte)
      case 0x40...0x7E: end(KeyMap.singleShift(parameters, final: byte).map { [$0] } ?? [], &tokens)
      default: beginAnew(byte, &tokens)
      }
    case .linuxFunction:
      if let key = KeyMap.linuxFunction(byte) { end([key], &tokens) } else { beginAnew(byte, &tokens) }
    case .mouse(let missing): state = missing == 1 ? .ground : .mouse(missing: missing - 1)
    case .answerIntroducer(let introducer):
      guard Self.beginsAnswer(introducer, byte) else { return beginAnew(byte, &tokens) }
      begin(.answer, &tokens)
    case .answer where byte == 0x07: state = .ground
    case .answer where byte >= 0x20: break
    case .ground, .answer, .paste: beginAnew(byte, &tokens)
    }
  }

  /// Ends whatever is unfinished, because its rest does not come.
  ///
  /// - Parameter tokens: the tokens to which those of undecided bytes, or the end of the paste, are added.
  mutating func breakOff(_ tokens: inout [Token]) {
    if isInPaste { tokens.append(.pasteEnds) }
    let pressed = undecided
    begin(.ground, &tokens)
    tokens += pressed
  }
}

// MARK: - Taking a byte

extension TerminalGrammar {
  private mutating func takeEscape(_ tokens: inout [Token]) {
    switch state {
    case .answer: state = .answerEscape
    case .escape, .answerEscape:
      // Of several `ESC` the last one begins a sequence, and the one before it may belong to that sequence.
      begin(.escape, &tokens)
      isPrefixed = true
    default:
      breakOff(&tokens)
      state = .escape
    }
  }

  private mutating func takeEscaped(_ byte: UInt8, _ tokens: inout [Token]) {
    switch byte {
    case UInt8(ascii: "\\") where state == .answerEscape: state = .ground
    case UInt8(ascii: "["): state = .controlSequence
    case UInt8(ascii: "O"): state = .singleShift
    case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "_"): state = .answerIntroducer(byte)
    default:
      begin(.ground, &tokens)
      tokens.append(.byte(byte, hasAlt: true))
    }
  }

  private mutating func takeControl(_ byte: UInt8, _ tokens: inout [Token]) {
    switch byte {
    case UInt8(ascii: "[") where parameters.isEmpty: state = .linuxFunction
    case UInt8(ascii: "M") where parameters.isEmpty: begin(.mouse(missing: 3), &tokens)
    case UInt8(ascii: "I") where parameters.isEmpty, UInt8(ascii: "O") where parameters.isEmpty:
      begin(.ground, &tokens)
      tokens.append(.focus(byte == UInt8(ascii: "I")))
    case UInt8(ascii: "~") where parameters == Self.pasteBegin:
      begin(.paste(matched: 0), &tokens)
      tokens.append(.pasteBegins)
    case UInt8(ascii: "$") where parameters.count <= 8:
      // rxvt ends the sequence of a key here; for other terminals the byte is an intermediate.
      let pressed = keys(byte)
      if pressed.isEmpty { keep(byte) } else { end(pressed, &tokens) }
    case 0x20...0x3F: keep(byte)
    case 0x40...0x7E: end(keys(byte), &tokens)
    default: beginAnew(byte, &tokens)
    }
  }

  private mutating func takePasted(_ input: inout ArraySlice<UInt8>, _ matched: Int, _ tokens: inout [Token]) {
    if input.first != Self.pasteEnd[matched] {
      // The supposed end belongs to the text.
      if matched > 0 { tokens.append(.pasted(Self.pasteEnd[..<matched])) }
      let text = input[..<(input.firstIndex(of: Self.escape) ?? input.endIndex)]
      tokens.append(.pasted(text))
      input = input[text.endIndex...]
      state = .paste(matched: 0)
    } else {
      input.removeFirst()
      state = .paste(matched: matched + 1)
      if matched + 1 == Self.pasteEnd.count {
        state = .ground
        tokens.append(.pasteEnds)
      }
    }
  }

  /// Whether these bytes after `ESC` begin an answer of the terminal, rather than Alt with a key and another key.
  private static func beginsAnswer(_ introducer: UInt8, _ byte: UInt8) -> Bool {
    switch introducer {
    // `l` and `L` come before the titles of the window and of its icon.
    case UInt8(ascii: "]"): (0x30...0x39).contains(byte) || byte == UInt8(ascii: "l") || byte == UInt8(ascii: "L")
    // `@` is kitty's.
    case UInt8(ascii: "P"): (0x30...0x39).contains(byte) || ">!@".utf8.contains(byte)
    default: byte == UInt8(ascii: "G")
    }
  }
}

// MARK: - Changing the state

extension TerminalGrammar {
  /// Begins what is not a key; an `ESC` before the sequence so far was the Escape key.
  private mutating func begin(_ next: State, _ tokens: inout [Token]) {
    if isPrefixed { tokens.append(.byte(Self.escape)) }
    (state, isPrefixed, parameters) = (next, false, [])
  }

  /// Ends a sequence with its keys, if it has any.
  private mutating func end(_ pressed: [Terminal.Key], _ tokens: inout [Token]) {
    guard !pressed.isEmpty else { return begin(.ground, &tokens) }
    tokens.append(.keys(pressed, hasAlt: isPrefixed))
    (state, isPrefixed, parameters) = (.ground, false, [])
  }

  /// Ends the sequence, and takes a byte that cannot belong to it.
  private mutating func beginAnew(_ byte: UInt8, _ tokens: inout [Token]) {
    breakOff(&tokens)
    tokens.append(.byte(byte))
  }

  private mutating func keep(_ byte: UInt8) { if !isTooLong { parameters.append(byte) } }

  /// Returns the keys of a control sequence with this final.
  private func keys(_ final: UInt8) -> [Terminal.Key] {
    isTooLong ? [] : KeyMap.controlSequence(parameters, final: final)
  }
}
