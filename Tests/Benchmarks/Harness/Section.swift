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
  /// Whether figures are judged as they are, such as counts; times and bytes are judged by ratios, unless the promise itself names a time.
  package let hasAbsoluteBounds: Bool
  /// What has to be known of the figures, in a sentence below them; nil if nothing has.
  package let note: ((Results) -> String?)?
  /// Sets the contestants up; they live until the section has been measured.
  package let contestants: () throws -> [Contestant]

  /// A section.
  package init(
    name: String, title: String, rounds: Int, judgements: [Judgement] = [], hasAbsoluteBounds: Bool = false,
    note: ((Results) -> String?)? = nil, contestants: @escaping () throws -> [Contestant]
  ) {
    (self.name, self.title, self.rounds) = (name, title, rounds)
    (self.judgements, self.hasAbsoluteBounds) = (judgements, hasAbsoluteBounds)
    (self.note, self.contestants) = (note, contestants)
  }

  /// Measures all contestants, interleaved.
  ///
  /// - Returns: what they measured.
  /// - Throws: what a contestant throws; ``NotARatio`` if a judgement depends on the machine's speed.
  package func measure() throws -> Results {
    let results = try Interleaving.measure(contestants(), rounds: rounds)
    if !hasAbsoluteBounds, let absolute = judgements.first(where: { !$0.isRatio(in: results) }) {
      throw NotARatio(
        "\(name), \(absolute.row): \(absolute.unit) would be another figure on a machine of another speed")
    }
    return results
  }
}

/// A judgement compares a time with a fixed bound, so that the machine would be judged.
package struct NotARatio: Error, CustomStringConvertible {
  /// The judgement, and what is wrong with it.
  package let description: String

  /// A failure, described by a sentence.
  package init(_ description: String) { self.description = description }
}
