/// A reader of foreign bytes that is fed with bytes of any kind.
///
/// A run fails by a trap of the code under test, or by a promise of it that does not hold.
package enum FuzzTarget: String, CaseIterable, Sendable {
  /// The reader of a journal's file, and what is computed from its lines.
  case journal
  /// The decoder of JSON, for events of links and for saved values.
  case json
  /// The parser of scripts.
  case script
  /// The reader of a file of saved state.
  case state
  /// The parsers of a terminal's input and output.
  case terminal

  /// Feeds the code with bytes.
  ///
  /// - Throws: a ``BrokenPromise``.
  package func run(_ bytes: [UInt8]) throws {
    switch self {
    case .journal: try JournalInput.run(bytes)
    case .json: JSONInput.run(bytes)
    case .script: try ScriptInput.run(bytes)
    case .state: try StateInput.run(bytes)
    case .terminal: try TerminalInput.run(bytes)
    }
  }
}

/// A promise of the code under test that does not hold for some bytes.
package struct BrokenPromise: Error, CustomStringConvertible {
  package let description: String
}

func promise(_ holds: Bool, _ description: @autoclosure () -> String) throws {
  if !holds { throw BrokenPromise(description: description()) }
}

/// The choices of a run, which the first bytes of its input make.
struct Choices {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  /// Returns the next choice; 0 when no bytes are left.
  mutating func next(below limit: Int) -> Int { rest.popFirst().map { Int($0) % limit } ?? 0 }

  /// The remaining bytes, cut at random into pieces.
  func pieces(seed: Int) -> [ArraySlice<UInt8>] {
    var pieces: [ArraySlice<UInt8>] = []
    var rest = rest
    var state = UInt64(truncatingIfNeeded: seed)
    while !rest.isEmpty {
      // A linear congruential generator suffices to vary the lengths.
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let length = seed == 0 ? rest.count : Int(state >> 33 & 15) + 1
      pieces.append(rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    return pieces
  }
}
