/// What was measured in one section: samples by row (the workload) and column (the contestant).
package struct Results: Equatable, Sendable {
  /// The workloads, in the order in which they were first measured.
  package private(set) var rows: [String] = []
  /// The contestants, in the order in which they were first measured.
  package private(set) var columns: [String] = []
  private var samples: [String: [String: Samples]] = [:]

  /// Nothing measured yet.
  package init() {}

  /// Adds the figure of one more round.
  package mutating func append(_ value: Double, row: String, column: String) {
    if !rows.contains(row) { rows.append(row) }
    if !columns.contains(column) { columns.append(column) }
    samples[row, default: [:]][column, default: Samples()].append(value)
  }

  /// What a contestant measured in a workload; nil if it took no part.
  package subscript(row: String, column: String) -> Samples? { samples[row]?[column] }

  /// The median of what a contestant measured in a workload.
  package func median(_ row: String, _ column: String) -> Double? { self[row, column]?.median }

  /// The same results from a machine on which everything takes so many times as long.
  package func scaled(by factor: Double) -> Results {
    var scaled = self
    scaled.samples = samples.mapValues { $0.mapValues { Samples($0.values.map { $0 * factor }) } }
    return scaled
  }

  /// One contestant's median in a workload as a multiple of a median that was measured in another workload.
  package func ratio(
    _ row: String, _ column: String, toRow otherRow: String, _ other: String
  ) -> Double? {
    guard let figure = median(row, column), let reference = median(otherRow, other), reference > 0 else { return nil }
    return figure / reference
  }

  /// How many times as fast a contestant was in one workload as in another, round by round.
  package func gains(_ column: String, from row: String, to faster: String) -> Samples? {
    guard let before = self[row, column], let after = self[faster, column] else { return nil }
    return before.ratios(to: after)
  }

  /// One contestant's median as a multiple of another's in the same workload.
  package func ratio(_ row: String, _ column: String, to other: String) -> Double? {
    guard let figure = median(row, column), let reference = median(row, other), reference > 0 else { return nil }
    return figure / reference
  }
}
