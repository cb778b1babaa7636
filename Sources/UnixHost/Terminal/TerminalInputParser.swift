/// Finds focus reports in what a terminal sends, among keys, mouse reports and pasted text.
///
/// Pure.
///
/// The grammar, byte for byte: control sequences `ESC [`, parameters 0x30–0x3F, intermediates 0x20–0x2F, final 0x40–0x7E;
/// mouse reports in the X10 encoding, `ESC [ M` and three bytes of any value; single shifts, `ESC O` and a key; function keys of
/// Linux's console, `ESC [ [` and a letter; `ESC` and a key, or `ESC` and a sequence, for Alt; bracketed paste, `ESC [ 200 ~` to
/// `ESC [ 201 ~`, inside which nothing is a report. An `ESC` where the grammar has none begins a new sequence, as on the terminals
/// themselves.
///
/// All bytes but the focus reports are handed on unchanged and in order. A sequence that is not complete is held back until
/// it is, until it is longer than any real one, or until ``flush()``: that is how the Escape key is told from the beginning of a sequence.
package struct TerminalInputParser: Sendable, Hashable {
  /// What the terminal said.
  package enum Element: Sendable, Hashable {
    /// Keys, mouse reports, pasted text with its brackets.
    case bytes([UInt8])
    /// The terminal got the keyboard focus, or lost it.
    case focus(Bool)
    /// A key of which the kernel would make a signal, were it not the host's to find.
    case signalKey(SignalKeys.Key)
  }

  private enum State: Sendable, Hashable {
    case ground
    case escape
    /// After `ESC [`, nothing else yet.
    case introducer
    /// Within a control sequence; nil as soon as it cannot become a bracket of a paste.
    case parameters([UInt8]?)
    case x10Mouse(missing: Int)
    case singleShift
    /// After `ESC [ [`, or after what begins an answer of the terminal: one more byte tells it from a key.
    case oneMore
    /// Within a paste; so many bytes of its end have been seen.
    case paste(matched: Int)
  }

  private static let escape: UInt8 = 0x1B
  private static let pasteBegins = Array("200~".utf8)
  private static let pasteEnds = [escape] + Array("[201~".utf8)

  /// Longer than any sequence that a terminal sends.
  ///
  /// What is longer is handed on as it comes, lest a sequence without an end be held for ever.
  private static let heldLimit = 256

  /// The bytes that, outside a paste, are an ``Element/signalKey(_:)``.
  package var signalKeys = SignalKeys()
  private var state = State.ground
  /// The bytes of a sequence that is not complete.
  ///
  /// Empty within a paste: pasted text is never held back.
  private var held: [UInt8] = []

  /// Whether bytes are held back that ``flush()`` would hand on.
  var holdsBytes: Bool { !held.isEmpty }

  /// A parser at the beginning of a terminal's input.
  package init() {}

  /// Begins anew with the terminal's input, and forgets what is held back.
  ///
  /// - Returns: what is missing of a paste's end, if the input broke off within one: a view that got its beginning would wait
  ///   for its end for ever.
  mutating func reset() -> [Element] {
    defer {
      state = .ground
      held = []
    }
    guard case .paste(let matched) = state else { return [] }
    return [.bytes(Array(Self.pasteEnds[matched...]))]
  }

  /// Takes bytes, in the order in which they were read.
  ///
  /// - Complexity: linear in the number of bytes.
  ///
  /// - Parameters:
  ///   - bytes: what was read at once.
  ///   - isAfterPause: nothing has come for so long that a paste must have been broken off. Then a key that makes a signal, alone,
  ///     is a key again: else the keyboard could not end a program whose terminal vanished in the middle of a paste.
  /// - Returns: what the terminal said, oldest first.
  package mutating func feed(_ bytes: some Collection<UInt8>, afterPause isAfterPause: Bool = false) -> [Element] {
    if isAfterPause, case .paste = state, bytes.count == 1, let byte = bytes.first, let key = signalKeys.key(byte) {
      return reset() + [.signalKey(key)]
    }
    var elements: [Element] = []
    var plain: [UInt8] = []
    for byte in bytes {
      take(byte, &plain, &elements)
      if held.count >= Self.heldLimit {
        plain += held
        held = []
      }
    }
    if !plain.isEmpty { elements.append(.bytes(plain)) }
    return elements
  }

  /// Hands on what is held back: nothing came after it for a while, so it was a key, or a terminal that pauses.
  ///
  /// After a lone `ESC` or `ESC [` the next byte begins something new; a sequence that is further on is still continued.
  package mutating func flush() -> [Element] {
    guard holdsBytes else { return [] }
    defer { held = [] }
    switch state {
    case .escape, .introducer, .singleShift, .oneMore: state = .ground
    case .ground, .parameters, .x10Mouse, .paste: break
    }
    return [.bytes(held)]
  }

  private mutating func take(_ byte: UInt8, _ plain: inout [UInt8], _ elements: inout [Element]) {
    if case .paste(let matched) = state { return takePasted(byte, matched, &plain) }
    if byte == Self.escape {
      // Whatever came before it is not going to be a report; but for Alt an `ESC` may stand before a sequence.
      let prefix = state == .escape ? 1 : 0
      plain += held.dropLast(prefix)
      held = held.suffix(prefix) + [byte]
      state = .escape
      return
    }
    // As the kernel does it, in the middle of a sequence, too: the sequence was broken off.
    if let key = signalKeys.key(byte) {
      complete(&plain)
      if !plain.isEmpty { elements.append(.bytes(plain)) }
      plain = []
      return elements.append(.signalKey(key))
    }
    switch state {
    case .ground: plain.append(byte)
    case .escape:
      held.append(byte)
      switch byte {
      case UInt8(ascii: "["): state = .introducer
      case UInt8(ascii: "O"): state = .singleShift
      case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "_"): state = .oneMore
      default: complete(&plain)
      }
    case .introducer where byte == UInt8(ascii: "I") || byte == UInt8(ascii: "O"):
      // An `ESC` before it was the key.
      plain += held.dropLast(2)
      held = []
      state = .ground
      if !plain.isEmpty { elements.append(.bytes(plain)) }
      plain = []
      elements.append(.focus(byte == UInt8(ascii: "I")))
    case .introducer where byte == UInt8(ascii: "M"):
      held.append(byte)
      state = .x10Mouse(missing: 3)
    case .introducer where byte == UInt8(ascii: "["):
      held.append(byte)
      state = .oneMore
    case .introducer: takeParameter(byte, [], &plain)
    case .parameters(let parameters): takeParameter(byte, parameters, &plain)
    case .x10Mouse(let missing):
      held.append(byte)
      state = .x10Mouse(missing: missing - 1)
      if missing == 1 { complete(&plain) }
    case .singleShift:
      held.append(byte)
      // Some terminals put the modifier keys' number between `ESC O` and the key.
      if !(0x30...0x3F).contains(byte) { complete(&plain) }
    case .oneMore:
      held.append(byte)
      complete(&plain)
    case .paste: break
    }
  }

  private mutating func takeParameter(_ byte: UInt8, _ parameters: [UInt8]?, _ plain: inout [UInt8]) {
    held.append(byte)
    let soFar = parameters.flatMap { Self.pasteBegins.starts(with: $0 + [byte]) ? $0 + [byte] : nil }
    if soFar == Self.pasteBegins {
      complete(&plain)
      state = .paste(matched: 0)
    } else if (0x20...0x3F).contains(byte) {
      state = .parameters(soFar)
    } else {
      complete(&plain)
    }
  }

  private mutating func takePasted(_ byte: UInt8, _ matched: Int, _ plain: inout [UInt8]) {
    plain.append(byte)
    if byte == Self.pasteEnds[matched] {
      state = matched + 1 == Self.pasteEnds.count ? .ground : .paste(matched: matched + 1)
    } else {
      state = .paste(matched: byte == Self.escape ? 1 : 0)
    }
  }

  private mutating func complete(_ plain: inout [UInt8]) {
    plain += held
    held = []
    state = .ground
  }
}

extension [TerminalInputParser.Element] {
  /// Of many focus reports only the last one, and the last one that said the opposite: that the focus was away for a moment
  /// is news, how often is not.
  var mergingFocus: [TerminalInputParser.Element] {
    guard let last = lastIndex(where: \.isFocus) else { return self }
    let opposite = self[..<last].lastIndex { $0.isFocus && $0 != self[last] }
    return indices.compactMap { index in
      self[index].isFocus && index != last && index != opposite ? nil : self[index]
    }
  }
}

extension TerminalInputParser.Element {
  fileprivate var isFocus: Bool { if case .focus = self { true } else { false } }
}
