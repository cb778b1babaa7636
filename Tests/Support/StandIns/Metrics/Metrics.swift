import PubSub
import Scheduling

// As much of swift-metrics' `Metrics` as the documentation's listings use: names, labels, types and results as in swift-metrics 2.10.1,
// of which they were read. Not the library: it collects what it is given, for tests to look at.

private let collected = Guarded<[String]>([])

/// What was recorded since this was last asked.
///
/// Not of the library.
package func takeRecordedMetrics() -> [String] {
  collected.withLock { lines in
    defer { lines = [] }
    return lines
  }
}

private func record(_ label: String, _ dimensions: [(String, String)], _ value: String) {
  let pairs = dimensions.map { "\($0.0)=\($0.1)" }.joined(separator: ",")
  collected.withLock { $0.append("\(label){\(pairs)} \(value)") }
}

/// Counts.
package final class Counter: Sendable {
  package let label: String
  package let dimensions: [(String, String)]

  package convenience init(label: String, dimensions: [(String, String)] = []) {
    self.init(label, dimensions)
  }

  private init(_ label: String, _ dimensions: [(String, String)]) {
    (self.label, self.dimensions) = (label, dimensions)
  }

  package func increment<DataType: BinaryInteger>(by amount: DataType) { record(label, dimensions, "+\(amount)") }

  package func increment() { increment(by: 1) }
}

/// Takes durations.
package final class Timer: Sendable {
  package let label: String
  package let dimensions: [(String, String)]

  package convenience init(label: String, dimensions: [(String, String)] = []) {
    self.init(label, dimensions)
  }

  private init(_ label: String, _ dimensions: [(String, String)]) {
    (self.label, self.dimensions) = (label, dimensions)
  }

  package func recordNanoseconds(_ duration: Int64) {
    MetricsStandIn.record(label, dimensions, "\(duration) ns")
  }

  package func record(duration: Duration) { recordNanoseconds(Int64(duration / .nanoseconds(1))) }
}
