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
  /// What has to be known of the figures, in a sentence below them; nil if nothing has.
  package let note: ((Results) -> String?)?
  /// Sets the contestants up; they live until the section has been measured.
  package let contestants: () throws -> [Contestant]

  /// A section.
  package init(
    name: String, title: String, rounds: Int, judgements: [Judgement] = [],
    note: ((Results) -> String?)? = nil, contestants: @escaping () throws -> [Contestant]
  ) {
    (self.name, self.title, self.rounds) = (name, title, rounds)
    (self.judgements, self.note, self.contestants) = (judgements, note, contestants)
  }

  /// Measures all contestants, interleaved.
  package func measure() throws -> Results { try Interleaving.measure(contestants(), rounds: rounds) }
}
