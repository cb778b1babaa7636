import PubSub
import Scheduling

// As much of swift-metrics' `Metrics` as the documentation's adapter uses, with the same names and types. Not the library: it
// collects what it is given, for tests to look at.

private let collected = Guarded<[String]>([])

/// What was recorded since this was last asked.
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
package final class Counter {
  private let label: String
  private let dimensions: [(String, String)]

  package init(label: String, dimensions: [(String, String)] = []) {
    (self.label, self.dimensions) = (label, dimensions)
  }

  package func increment() { record(label, dimensions, "+1") }
}

/// Takes durations.
package final class Timer {
  private let label: String
  private let dimensions: [(String, String)]

  package init(label: String, dimensions: [(String, String)] = []) {
    (self.label, self.dimensions) = (label, dimensions)
  }

  package func recordNanoseconds(_ duration: Int64) { record(label, dimensions, "\(duration) ns") }
}
