import Foundation

/// Measures by the processor time of a thread.
package enum Stopwatch {
  /// The processor time that the calling thread has used.
  ///
  /// Work on one thread is timed by it: what else the machine has to do at the moment does not count.
  package static var threadTime: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// How much processor time of the calling thread some work takes.
  package static func threadTime(_ body: () throws -> Void) rethrows -> Duration {
    let start = threadTime
    try body()
    return threadTime - start
  }

  /// How often a piece of work has to be repeated to fill a slice of time; at least once.
  ///
  /// - Parameters:
  ///   - slice: the time to fill.
  ///   - time: repeats the work that often, and says how long it took.
  /// - Returns: the number of repetitions.
  package static func calibrate(_ slice: Duration, _ time: (Int) throws -> Duration) rethrows -> Int {
    var count = 1
    while true {
      let elapsed = try time(count)
      if elapsed >= slice / 4 || count >= 1 << 30 {
        return max(1, Int(Double(count) * (slice.nanoseconds / max(1, elapsed.nanoseconds))))
      }
      // Never more than eightfold: what is too short to be timed tells little.
      count *= elapsed < slice / 32 ? 8 : 2
    }
  }
}

extension Duration {
  /// The whole in nanoseconds.
  package var nanoseconds: Double { self / .nanoseconds(1) }
}
