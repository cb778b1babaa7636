import PseudoTerminal

/// Counts what was drawn, for the table at the end.
package struct Tally: Sendable, CustomStringConvertible {
  private var counts: [String: [String: Int]] = [:]
  /// How many rounds were counted.
  package private(set) var rounds = 0

  package init() {}

  /// Counts a round.
  package mutating func add(_ round: Round) {
    rounds += 1
    count(round.program.rawValue, as: "program")
    count(round.shell.rawValue, as: "shell")
    count(round.wrapper.rawValue, as: "wrapper")
    for condition in round.conditions { count(condition.kind, as: "found") }
    for step in round.steps { count(step.kind, as: "step") }
    count(round.ending.kind, as: "end")
  }

  private mutating func count(_ name: String, as kind: String) { counts[kind, default: [:]][name, default: 0] += 1 }

  /// A line for each kind of thing: how often each was drawn.
  package var description: String {
    ["program", "shell", "wrapper", "found", "step", "end"].map { kind in
      let drawn = (counts[kind] ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
      let padding = String(repeating: " ", count: 9 - kind.count)
      return "  \(kind)\(padding)\(drawn.joined(separator: ", "))"
    }.joined(separator: "\n")
  }
}
