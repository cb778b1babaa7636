/// Measures contestants in turn, so that whatever disturbs the machine disturbs all of them.
package enum Interleaving {
  /// Measures every contestant once a round.
  ///
  /// A first round warms up and does not count. Each round starts with another contestant, and every other round runs
  /// backwards, lest one always runs behind the same neighbour at the same moment of the machine's own rhythms.
  ///
  /// - Parameters:
  ///   - contestants: in the order of their columns.
  ///   - rounds: how many rounds count.
  /// - Returns: what they measured.
  /// - Throws: what a contestant throws, ``WorkNotDone`` for one.
  package static func measure(_ contestants: [Contestant], rounds: Int) throws -> Results {
    var results = Results()
    var ordered: [Int: [(row: String, figure: Double)]] = [:]
    for round in 0...rounds {
      for turn in contestants.indices {
        let step = round.isMultiple(of: 2) ? turn : contestants.count - 1 - turn
        let index = (step + round) % contestants.count
        ordered[index] = try contestants[index].measure()
      }
      if round == 0 { continue }
      // Added in the contestants' own order, which is the table's.
      for (index, contestant) in contestants.enumerated() {
        for (row, figure) in ordered[index] ?? [] { results.append(figure, row: row, column: contestant.column) }
      }
    }
    return results
  }
}
