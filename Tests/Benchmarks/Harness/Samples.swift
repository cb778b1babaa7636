/// What one contestant measured, a figure for each round.
package struct Samples: Equatable, Sendable {
  /// The figures in the order in which they were measured.
  package private(set) var values: [Double]

  /// Samples from figures.
  package init(_ values: [Double] = []) { self.values = values }

  /// Adds the figure of one more round.
  package mutating func append(_ value: Double) { values.append(value) }

  /// The figures as multiples of those of the same rounds elsewhere.
  package func ratios(to others: Samples) -> Samples { Samples(zip(values, others.values).map { $0 / $1 }) }

  /// The middle figure, the mean of the two middle ones if their number is even; nil without figures.
  package var median: Double? {
    if values.isEmpty { return nil }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }

  /// The mean of the smallest nine tenths; nil without figures.
  ///
  /// It leaves out the few in which another program had the processor, and has in it what happens more often than that.
  package var calmMean: Double? {
    if values.isEmpty { return nil }
    let calm = values.sorted().prefix(values.count - values.count / 10)
    return calm.reduce(0, +) / Double(calm.count)
  }

  /// The smallest figure.
  package var minimum: Double? { values.min() }

  /// The largest figure.
  package var maximum: Double? { values.max() }
}
