/// When a resource that failed is tried again: after a wait that grows with each failure and differs between processes.
///
/// A failure is an acquire that throws, or a resource that breaks before it was held for ``resetAfter``.
public struct RetryPolicy: Sendable, Hashable {
  /// The wait after the first failure.
  public var first: Duration
  /// The longest wait.
  public var longest: Duration
  /// By how much each wait grows.
  public var factor: Double
  /// How much of each wait is left to chance, from 0 to 1: with 0.2, between 80 and 100 per cent of it are waited.
  public var jitter: Double

  /// How many attempts follow the first failure of a row; nil for as many as it takes.
  ///
  /// A resource that fails once more is given up: its status becomes ``ResourceStatus/failed(failures:)``. Zero or less
  /// allows no further attempt.
  public var maximumRetries: Int?
  /// How long a resource must have been held for its next failure to count as the first of a row.
  ///
  /// One whose first health check fails has failed, however long it was held.
  public var resetAfter: Duration

  /// A policy; without arguments it waits a quarter of a second, doubling up to half a minute, a fifth of it left to chance, and
  /// tries as often as it takes.
  ///
  /// - Parameters:
  ///   - first: the wait after the first failure.
  ///   - longest: the longest wait.
  ///   - factor: by how much each wait grows.
  ///   - jitter: how much of each wait is left to chance, from 0 to 1.
  ///   - maximumRetries: how many attempts follow the first failure of a row; nil for as many as it takes.
  ///   - resetAfter: how long a resource must have been held for its next failure to count as the first of a row.
  public init(
    first: Duration = .milliseconds(250), longest: Duration = .seconds(30), factor: Double = 2, jitter: Double = 0.2,
    maximumRetries: Int? = nil, resetAfter: Duration = .seconds(10)
  ) {
    (self.first, self.longest, self.factor, self.jitter) = (first, longest, factor, jitter)
    (self.maximumRetries, self.resetAfter) = (maximumRetries, resetAfter)
  }

  /// The wait after so many failures in a row.
  ///
  /// It never shrinks. A jitter beyond its bounds counts as the nearer bound.
  ///
  /// - Parameters:
  ///   - failures: how many there have been, at least 1.
  ///   - chance: between 0 and 1; how much of the jitter is taken off.
  /// - Returns: the wait.
  /// - Complexity: linear in the number of failures until the longest wait is reached.
  public func delay(afterFailures failures: Int, chance: Double) -> Duration {
    var delay = first
    var left = max(failures, 1) - 1
    while left > 0, delay > .zero, delay < longest, factor > 1 {
      // No wait that could not be counted is computed.
      delay = delay / longest * factor < 1 ? delay * factor : longest
      left -= 1
    }
    delay = min(delay, longest)
    let share = jitter * chance
    return share > 0 ? min(delay * (1 - min(share, 1)), delay) : delay
  }
}
