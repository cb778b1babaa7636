import Foundation

/// All that one run measured, to be written as JSON.
package struct Report: Codable, Sendable {
  /// A table.
  package struct SectionReport: Codable, Sendable {
    /// What `--only` knows it by.
    package var name: String
    /// The table's heading.
    package var title: String
    /// Its workloads.
    package var workloads: [WorkloadReport]
  }

  /// A line of a table.
  package struct WorkloadReport: Codable, Sendable {
    /// What was done.
    package var workload: String
    /// What each contestant measured.
    package var contestants: [ContestantReport]
    /// What came of it.
    package var judgements: [JudgementReport]
  }

  /// A figure of a table, with those that it was computed from.
  package struct ContestantReport: Codable, Sendable {
    /// The name of the code that was measured.
    package var name: String
    /// The middle figure.
    package var median: Double
    /// The smallest figure.
    package var minimum: Double
    /// All figures in the order in which they were measured.
    package var samples: [Double]
  }

  /// A figure and its bounds.
  package struct JudgementReport: Codable, Sendable {
    /// What the figure is.
    package var unit: String
    /// The figure; nil if something was not measured.
    package var figure: Double?
    /// On which side of the bounds it has to be.
    package var side: Judgement.Side
    /// What must be reached.
    package var bound: Double
    /// What ought to be reached.
    package var aim: Double
    /// What came of it.
    package var verdict: Judgement.Verdict
  }

  /// Where the figures come from.
  package var machine: Machine
  /// When they were measured.
  package var date: String
  /// Whether the rounds were few and short.
  package var isQuick: Bool
  /// The tables.
  package var sections: [SectionReport] = []
  /// What could not be measured here, and why.
  package var notes: [String] = []

  /// A report of a run that starts now.
  package init(machine: Machine, isQuick: Bool) {
    (self.machine, self.isQuick) = (machine, isQuick)
    date = Date.now.formatted(.iso8601)
  }

  /// Adds what a section measured.
  package mutating func append(_ section: Section, _ results: Results) {
    let workloads = results.rows.map { row in
      WorkloadReport(
        workload: row,
        contestants: results.columns.compactMap { column in
          guard let samples = results[row, column], let median = samples.median, let minimum = samples.minimum else {
            return nil
          }
          return ContestantReport(name: column, median: median, minimum: minimum, samples: samples.values)
        },
        judgements: section.judgements.filter { $0.row == row }.map { judgement in
          JudgementReport(
            unit: judgement.unit, figure: judgement.figure(in: results), side: judgement.side, bound: judgement.bound,
            aim: judgement.aim, verdict: judgement.verdict(in: results))
        })
    }
    sections.append(SectionReport(name: section.name, title: section.title, workloads: workloads))
  }

  /// Writes it to a file.
  package func write(to path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try (encoder.encode(self) + Data("\n".utf8)).write(to: URL(fileURLWithPath: path))
  }
}
