/// Finds focus reports in the input of a terminal, among keys, mouse reports and pasted text.
///
/// The type is pure.
///
/// The grammar, byte for byte: control sequences `ESC [`, parameters 0x30–0x3F, intermediates 0x20–0x2F, final
/// 0x40–0x7E; mouse reports in the X10 encoding, `ESC [ M` and three bytes of any value; single shifts, `ESC O` and a
/// key; function keys of Linux's console, `ESC [ [` and a letter; `ESC` and a key, or `ESC` and a sequence, for Alt;
/// bracketed paste, `ESC [ 200 ~` to `ESC [ 201 ~`, inside which nothing is a report. An `ESC` where the grammar allows
/// none begins a new sequence, as it does on terminals.
///
/// A key that makes a signal is found as its byte, or as the sequence with which xterm and kitty encode it. Inside a
/// paste it is text for the first second. After that, one with which a read begins is a key: a key that a person
/// presses is read by itself, and the keyboard must be able to end a program whose terminal never ends a paste.
///
/// The parser passes on all bytes except focus reports and keys that make signals, unchanged and in order. It holds an
/// incomplete sequence back until it is complete, until it is longer than any real one, or until ``breakOff()``; bytes
/// that may be a key, only until ``flush()``. In this way the Escape key is distinguished from the beginning of a
/// sequence.
package struct TerminalInputParser: Sendable, Hashable {
  /// An element of the terminal's input.
  package enum Element: Sendable, Hashable {
    /// Keys, mouse reports, or pasted text with its brackets.
    case bytes([UInt8])
    /// The terminal gained (true) or lost the keyboard focus.
    case focus(Bool)
    /// A key for which the kernel would send a signal, and which the host handles itself in raw mode.
    case signalKey(SignalKeys.Key)
  }

  private enum State: Sendable, Hashable {
    case ground
    case escape
    /// After `ESC [`, without a further byte.
    case introducer
    /// Inside a control sequence; nil as soon as it cannot be a bracket of a paste.
    case parameters([UInt8]?)
    case x10Mouse(missing: Int)
    case singleShift
    /// After `ESC [ [`, or the beginning of an answer of the terminal; one more byte distinguishes it from a key.
    case oneMore
    /// Inside a paste, after this number of bytes of its end.
    case paste(matched: Int)
  }

  /// The time after the beginning of a paste in which a key that makes a signal is text.
  static let pasteTime = Duration.seconds(1)
  /// The time without input after which an unfinished sequence, answer or paste is broken off.
  ///
  /// The host's thread measures it, and then calls ``breakOff()``. It is longer than a pause of a slow connection: what
  /// follows of a paste that is broken off counts as keys.
  static let idleTime = Duration.seconds(3)

  private static let escape: UInt8 = 0x1B
  private static let pasteBegins = Array("200~".utf8)
  private static let pasteEnds = [escape] + Array("[201~".utf8)

  /// A limit above the length of any sequence that a terminal sends.
  ///
  /// Bytes beyond it are passed on as they come, so that a sequence without an end is not held for ever.
  private static let heldLimit = 256

  /// The bytes that are an ``Element/signalKey(_:)`` outside a paste.
  package var signalKeys = SignalKeys()
  private var state = State.ground
  /// The time when the paste began.
  private var pasteBegan = Duration.zero
  /// The bytes of an incomplete sequence.
  ///
  /// Empty inside a paste, because pasted text is never held back.
  private var held: [UInt8] = []

  /// Whether bytes are held back that ``flush()`` would pass on.
  var isUndecided: Bool {
    switch state {
    case .escape, .introducer, .singleShift, .oneMore: true
    // With `$` rxvt ends the sequence of a key with Shift, and other terminals go on.
    case .parameters: held.contains(UInt8(ascii: "$"))
    case .ground, .x10Mouse, .paste: false
    }
  }

  /// Whether the next byte may be, or complete, a key that makes a signal: there are such keys, and no paste is under way.
  var findsKeys: Bool {
    if case .paste = state { return false }
    return signalKeys != SignalKeys()
  }

  /// Whether ``breakOff()`` would end a sequence or a paste.
  var isUnfinished: Bool { state != .ground }

  /// Creates a parser at the beginning of a terminal's input.
  package init() {}

  /// Resets the parser to the beginning of an input, and discards the bytes that are held back.
  ///
  /// - Returns: the missing bytes of the end of a paste, if the input broke off inside one; otherwise a view that has
  ///   received its beginning would wait for its end for ever.
  mutating func reset() -> [Element] {
    defer {
      state = .ground
      held = []
    }
    guard case .paste(let matched) = state else { return [] }
    return [.bytes(Array(Self.pasteEnds[matched...]))]
  }

  /// Parses bytes, in the order in which they were read.
  ///
  /// - Complexity: linear in the number of bytes.
  ///
  /// - Parameters:
  ///   - bytes: the bytes of one read.
  ///   - now: the time of the read, by a monotonic clock.
  /// - Returns: the elements, oldest first.
  package mutating func feed(_ bytes: some Collection<UInt8>, at now: Duration = .zero) -> [Element] {
    var elements: [Element] = []
    var plain: [UInt8] = []
    var rest = bytes[...]
    if case .paste = state, now - pasteBegan >= Self.pasteTime, let (key, length) = signalKeys.prefix(of: rest) {
      elements = reset() + [.signalKey(key)]
      rest = rest.dropFirst(length)
    }
    for byte in rest {
      take(byte, at: now, &plain, &elements)
      if held.count >= Self.heldLimit {
        plain += held
        held = []
      }
    }
    if !plain.isEmpty { elements.append(.bytes(plain)) }
    return elements
  }

  /// Passes on bytes that may be a key, because no byte has followed for a moment: they were the key.
  ///
  /// The next byte begins a new element. A sequence that has advanced further continues.
  package mutating func flush() -> [Element] { isUndecided ? breakOff() : [] }

  /// Ends a sequence or a paste whose rest does not come, and passes on the bytes that are held back.
  ///
  /// - Returns: the bytes that were held back, or the missing bytes of the end of a paste.
  package mutating func breakOff() -> [Element] {
    let elements: [Element] = held.isEmpty ? [] : [.bytes(held)]
    return elements + reset()
  }

  private mutating func take(
    _ byte: UInt8, at now: Duration, _ plain: inout [UInt8], _ elements: inout [Element]
  ) {
    if case .paste(let matched) = state { return takePasted(byte, matched, &plain) }
    if byte == Self.escape {
      // The bytes before this `ESC` cannot become a report; but an `ESC` before a sequence may mean Alt.
      let prefix = state == .escape ? 1 : 0
      plain += held.dropLast(prefix)
      held = held.suffix(prefix) + [byte]
      state = .escape
      return
    }
    // As in the kernel, a signal key also counts in the middle of a sequence, which was then broken off.
    if let key = signalKeys.key(byte) {
      complete(&plain)
      return add(.signalKey(key), &plain, &elements)
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
      // The `ESC` before it was the Escape key.
      plain += held.dropLast(2)
      held = []
      state = .ground
      add(.focus(byte == UInt8(ascii: "I")), &plain, &elements)
    case .introducer where byte == UInt8(ascii: "M"):
      held.append(byte)
      state = .x10Mouse(missing: 3)
    case .introducer where byte == UInt8(ascii: "["):
      held.append(byte)
      state = .oneMore
    case .introducer: takeParameter(byte, [], at: now, &plain, &elements)
    case .parameters(let parameters): takeParameter(byte, parameters, at: now, &plain, &elements)
    case .x10Mouse(let missing):
      held.append(byte)
      state = .x10Mouse(missing: missing - 1)
      if missing == 1 { complete(&plain) }
    case .singleShift:
      held.append(byte)
      // Some terminals send the number of the modifier keys between `ESC O` and the key.
      if !(0x30...0x3F).contains(byte) { complete(&plain) }
    case .oneMore:
      held.append(byte)
      complete(&plain)
    case .paste: break
    }
  }

  private mutating func takeParameter(
    _ byte: UInt8, _ parameters: [UInt8]?, at now: Duration, _ plain: inout [UInt8], _ elements: inout [Element]
  ) {
    held.append(byte)
    let soFar = parameters.flatMap { Self.pasteBegins.starts(with: $0 + [byte]) ? $0 + [byte] : nil }
    if soFar == Self.pasteBegins {
      complete(&plain)
      state = .paste(matched: 0)
      pasteBegan = now
    } else if (0x20...0x3F).contains(byte) {
      state = .parameters(soFar)
    } else if let begin = held.lastIndex(of: Self.escape), let (key, _) = signalKeys.prefix(of: held[begin...]) {
      // An `ESC` before the sequence was the Escape key.
      plain += held[..<begin]
      held = []
      state = .ground
      add(.signalKey(key), &plain, &elements)
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

  /// Adds an element after the bytes that came before it.
  private func add(_ element: Element, _ plain: inout [UInt8], _ elements: inout [Element]) {
    if !plain.isEmpty { elements.append(.bytes(plain)) }
    plain = []
    elements.append(element)
  }
}

extension [TerminalInputParser.Element] {
  /// The elements with only the last focus report, and the last one with the opposite value before it.
  ///
  /// A short loss of the focus matters, but not the number of losses.
  var mergingFocus: [TerminalInputParser.Element] {
    guard let last = lastIndex(where: \.isFocus) else { return self }
    let opposite = self[..<last].lastIndex { $0.isFocus && $0 != self[last] }
    return indices.compactMap { index in
      self[index].isFocus && index != last && index != opposite ? nil : self[index]
    }
  }
}

extension TerminalInputParser.Element {
  /// Whether the element is a key that makes a signal.
  var isSignalKey: Bool { if case .signalKey = self { true } else { false } }

  fileprivate var isFocus: Bool { if case .focus = self { true } else { false } }
}
