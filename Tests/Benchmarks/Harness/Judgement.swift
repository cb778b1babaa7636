/// A figure that has to stay within a bound.
package struct Judgement: Sendable {
  /// On which side of the bound the figure has to be.
  package enum Side: String, Sendable, Codable {
    /// Less is better.
    case atMost = "≤"
    /// More is better.
    case atLeast = "≥"
  }

  /// What came of it.
  package enum Verdict: String, Sendable, Codable {
    /// Within the aim.
    case aimReached = "aim"
    /// Within the bound.
    case boundReached = "ok"
    /// Neither.
    case fallsShort = "SHORT"
    /// A contestant that it needs took no part.
    case notMeasured = "–"
  }

  /// The workload that is judged.
  package let row: String
  /// What the figure is, to be read behind it: "× floor".
  package let unit: String
  /// On which side of bound and aim it has to be.
  package let side: Side
  /// What must be reached.
  package let bound: Double
  /// What ought to be reached.
  package let aim: Double
  private let figure: @Sendable (Results) -> Double?

  /// A judgement of one workload.
  ///
  /// - Parameters:
  ///   - row: the workload.
  ///   - unit: what the figure is, to be read behind it.
  ///   - side: on which side of the bound the figure has to be.
  ///   - bound: what must be reached.
  ///   - aim: what ought to be reached; the bound if nil.
  ///   - figure: computes the figure; nil if something was not measured.
  package init(
    _ row: String, _ unit: String, _ side: Side, _ bound: Double, aim: Double? = nil,
    figure: @escaping @Sendable (Results) -> Double?
  ) {
    (self.row, self.unit, self.side, self.bound, self.aim) = (row, unit, side, bound, aim ?? bound)
    self.figure = figure
  }

  /// The figure.
  package func figure(in results: Results) -> Double? { figure(results) }

  /// Whether the figure stays within the bounds.
  package func verdict(in results: Results) -> Verdict {
    guard let figure = figure(results) else { return .notMeasured }
    if isReached(aim, by: figure) { return .aimReached }
    return isReached(bound, by: figure) ? .boundReached : .fallsShort
  }

  /// Whether the figure is a ratio within the run: on a machine of half the speed it would be the same.
  package func isRatio(in results: Results) -> Bool { figure(results) == figure(results.scaled(by: 2)) }

  private func isReached(_ limit: Double, by figure: Double) -> Bool {
    side == .atMost ? figure <= limit : figure >= limit
  }
}
