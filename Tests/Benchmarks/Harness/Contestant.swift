/// One way to do the work of one or several workloads, measured round by round.
package struct Contestant {
  /// Its column in the table.
  package let column: String
  /// Measures one round: a figure for each row.
  package let measure: () throws -> [(row: String, figure: Double)]

  /// A contestant that measures itself.
  package init(_ column: String, measure: @escaping () throws -> [(row: String, figure: Double)]) {
    (self.column, self.measure) = (column, measure)
  }

  /// A contestant that measures one figure itself.
  package init(_ column: String, row: String, measure: @escaping () throws -> Double) {
    self.init(column) { [(row, try measure())] }
  }

  /// A contestant whose work is repeated and timed; its figure is nanoseconds of the thread's processor time an
  /// operation.
  ///
  /// The first round finds out how often the work fits into a slice of time, and so warms up. After each round the counters'
  /// total must have grown by exactly what was asked for.
  ///
  /// - Parameters:
  ///   - column: its column in the table.
  ///   - row: the workload.
  ///   - slice: how long a round takes, roughly.
  ///   - deliveries: by how much one operation raises the total.
  ///   - total: reads the counters' total.
  ///   - perform: performs the operation as often as it is told.
  package init(
    _ column: String, row: String, slice: Duration, deliveries: Int, total: @escaping () -> Int,
    repeat perform: @escaping (Int) -> Void
  ) {
    var calibrated: Int?
    func time(_ count: Int) throws -> Duration {
      let before = total()
      let elapsed = Stopwatch.threadTime { perform(count) }
      try WorkNotDone.check(total() - before, expected: count * deliveries, "\(column), \(row)")
      return elapsed
    }
    self.init(column, row: row) {
      let count = try calibrated ?? Stopwatch.calibrate(slice, time)
      calibrated = count
      return try time(count).nanoseconds / Double(count)
    }
  }
}

/// A contestant did more or less than it was asked for, so its time means nothing.
package struct WorkNotDone: Error, CustomStringConvertible {
  /// What it did, and what it should have done.
  package let description: String

  /// A failure, described by a sentence.
  package init(_ description: String) { self.description = description }

  /// Throws unless exactly the expected work was done.
  package static func check(_ done: Int, expected: Int, _ place: @autoclosure () -> String) throws {
    if done != expected { throw WorkNotDone("\(place()): \(done) deliveries instead of \(expected)") }
  }
}
