/// Finds focus reports in the input of a terminal, and the keys that make signals.
///
/// The type is pure. ``TerminalGrammar`` knows where sequences and pastes begin and end.
///
/// A key that makes a signal is found as its byte, or as the sequence with which xterm and kitty encode it. Inside a
/// paste it is text for the first second. After that, one with which a read begins is a key: a key that a person
/// presses is read by itself, and the keyboard must be able to end a program whose terminal never ends a paste.
///
/// The parser passes on all other bytes, unchanged and in order. It holds an incomplete sequence back until it is
/// complete, until it is too long for a key, or until ``breakOff()``; bytes that may be a key, only until ``flush()``.
/// In this way the Escape key is distinguished from the beginning of a sequence.
package struct TerminalInputParser: Sendable, Hashable {
  /// An element of the terminal's input.
  package enum Element: Sendable, Hashable {
    /// Keys, mouse reports, or pasted text with its brackets.
    case bytes([UInt8])
    /// The terminal gained (true) or lost the keyboard focus.
    case focus(Bool)
    /// A key for which the kernel would send a signal, and which the host handles itself in raw mode.
    case signalKey(CaughtSignal)
  }

  /// The time after the beginning of a paste in which a key that makes a signal is text.
  static let pasteTime = Duration.seconds(1)
  /// The time without input after which an unfinished sequence, answer or paste is broken off.
  ///
  /// The host's thread measures it, and then calls ``breakOff()``. It is longer than a pause of a slow connection: what
  /// follows of a paste that is broken off counts as keys.
  static let idleTime = Duration.seconds(3)

  /// The bytes that are an ``Element/signalKey(_:)`` outside a paste.
  package var signalKeys = SignalKeys()
  private var grammar = TerminalGrammar()
  /// The time when the paste began.
  private var pasteBegan = Duration.zero
  /// The bytes that have not been passed on.
  private var held: [UInt8] = []

  /// Whether bytes are held back that ``flush()`` would pass on.
  var isUndecided: Bool { grammar.isUndecided }

  /// Whether the next byte may be, or complete, a key that makes a signal: there are such keys, and no paste is under way.
  var findsKeys: Bool { !grammar.isInPaste && signalKeys != SignalKeys() }

  /// Whether ``breakOff()`` would end a sequence, an answer of the terminal or a paste.
  var isUnfinished: Bool { grammar.isUnfinished }

  /// Creates a parser at the beginning of a terminal's input.
  package init() {}

  /// Resets the parser to the beginning of an input, and discards the bytes that are held back.
  ///
  /// - Returns: the missing bytes of the end of a paste, if the input broke off inside one; otherwise a view that has
  ///   received its beginning would wait for its end for ever.
  package mutating func reset() -> [Element] {
    held = []
    return breakOff()
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
    var rest = ArraySlice(Array(bytes))
    if grammar.isInPaste, now - pasteBegan >= Self.pasteTime, let (key, length) = firstSignalKey(of: rest) {
      elements = reset() + [.signalKey(key)]
      rest = rest.dropFirst(length)
    }
    var tokens: [TerminalGrammar.Token] = []
    while let byte = rest.first {
      if !grammar.isInPaste, byte != TerminalGrammar.escape, let key = signalKeys.key(byte) {
        // As in the kernel, a signal key also counts in the middle of a sequence, which was then broken off.
        elements += breakOff() + [.signalKey(key)]
        rest = rest.dropFirst()
      } else {
        let before = rest
        grammar.take(&rest, &tokens)
        held += before[..<rest.startIndex]
        for token in tokens { elements += take(token, at: now) }
        tokens.removeAll(keepingCapacity: true)
      }
    }
    return elements + passOn()
  }

  /// Passes on bytes that may be a key, because no byte has followed for a moment: they were the key.
  ///
  /// The next byte begins a new element. A sequence that has advanced further continues.
  package mutating func flush() -> [Element] { isUndecided ? breakOff() : [] }

  /// Ends a sequence or a paste whose rest does not come, and passes on the bytes that are held back.
  ///
  /// - Returns: the bytes that were held back, or the missing bytes of the end of a paste.
  package mutating func breakOff() -> [Element] {
    held += grammar.missingPasteEnd
    grammar = TerminalGrammar()
    return passOn()
  }

  /// Returns the elements that the bytes up to a token become, if the token is a report or a key that makes a signal.
  private mutating func take(_ token: TerminalGrammar.Token, at now: Duration) -> [Element] {
    switch token {
    case .focus(let isFocused): return takeOut(.focus(isFocused))
    case .keys(let pressed, _):
      guard pressed.count == 1, let key = pressed[0].byte.flatMap(signalKeys.key) else { return [] }
      return takeOut(.signalKey(key))
    case .pasteBegins: pasteBegan = now
    case .byte, .pasted, .pasteEnds: break
    }
    return []
  }

  /// Takes the last sequence out of the bytes; an `ESC` before it was the Escape key.
  private mutating func takeOut(_ element: Element) -> [Element] {
    held.removeSubrange((held.lastIndex(of: TerminalGrammar.escape) ?? held.endIndex)...)
    return passOn() + [element]
  }

  /// Passes on all bytes but those of an unfinished sequence.
  private mutating func passOn() -> [Element] {
    let bytes = Array(held.dropLast(grammar.unfinishedLength))
    held.removeFirst(bytes.count)
    return bytes.isEmpty ? [] : [.bytes(bytes)]
  }

  /// Returns the key that makes a signal with which bytes begin, and its length; nil if they begin with other input.
  private func firstSignalKey(of bytes: ArraySlice<UInt8>) -> (key: CaughtSignal, length: Int)? {
    var outside = TerminalInputParser()
    outside.signalKeys = signalKeys
    for (index, byte) in bytes.enumerated() {
      guard let element = outside.feed([byte]).first else { continue }
      guard case .signalKey(let key) = element else { return nil }
      return (key, index + 1)
    }
    return nil
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
