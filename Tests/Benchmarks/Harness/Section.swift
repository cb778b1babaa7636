/// Workloads that are measured together, and shown in one table.
package struct Section {
  /// What `--only` knows it by.
  package let name: String
  /// The table's heading, with the unit of its figures.
  package let title: String
  /// How many rounds count.
  package let rounds: Int
  /// What the figures have to reach.
  package let judgements: [Judgement]
  /// Sets the contestants up; they live until the section has been measured.
  package let contestants: () throws -> [Contestant]

  /// A section.
  package init(
    name: String, title: String, rounds: Int, judgements: [Judgement] = [],
    contestants: @escaping () throws -> [Contestant]
  ) {
    (self.name, self.title, self.rounds) = (name, title, rounds)
    (self.judgements, self.contestants) = (judgements, contestants)
  }

  /// Measures all contestants, interleaved.
  package func measure() throws -> Results { try Interleaving.measure(contestants(), rounds: rounds) }
}
