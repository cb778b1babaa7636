import Testing

/// A host's state machine with its surroundings, to which tests do everything that may happen.
protocol ExploredWorld {
  associatedtype Action: CaseIterable
  /// The broken rules.
  var faults: [String] { get }
  /// Whether nothing more can happen.
  var hasEnded: Bool { get }
  mutating func act(_ action: Action)
  /// Lets everything come to its end, and notes what does not.
  mutating func end()
}

extension ExploredWorld {
  /// Does every sequence of actions up to a length; records the first that breaks a rule, and returns false then.
  func explore(after past: [Action], depth: Int) -> Bool {
    for action in Action.allCases {
      var next = self
      next.act(action)
      var last = next
      last.end()
      guard last.faults.isEmpty else {
        Issue.record("after \(past + [action]): \(last.faults)")
        return false
      }
      if depth > 1, !next.hasEnded, !next.explore(after: past + [action], depth: depth - 1) { return false }
    }
    return true
  }

  /// Does up to 200 of these actions at random, and expects that no rule is broken.
  mutating func live(_ actions: [Action], seed: UInt64, using random: inout some RandomNumberGenerator) {
    var past: [Action] = []
    for _ in 0..<200 where !hasEnded && faults.isEmpty {
      let action = actions.randomElement(using: &random)!
      past.append(action)
      act(action)
    }
    end()
    #expect(faults.isEmpty, "seed \(seed): after \(past.suffix(12))")
  }
}
