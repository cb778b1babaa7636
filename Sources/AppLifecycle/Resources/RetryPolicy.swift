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
  /// The random part of each wait, from 0 to 1: 0.2 waits between 80 and 100 per cent of it.
  public var jitter: Double

  /// The number of attempts that follow the first failure of a row; nil for no limit.
  ///
  /// A resource that fails once more is given up: its status becomes ``ResourceStatus/failed(failures:)``. Zero or less
  /// allows no further attempt.
  public var maximumRetries: Int?
  /// The time for which a resource must have been held, so that its next failure counts as the first of a row.
  ///
  /// A resource whose first health check fails has failed, however long it was held.
  public var resetAfter: Duration

  /// A policy.
  ///
  /// By default the first wait is 0.25 s, doubled up to 30 s, of which a fifth is random; the number of attempts has no limit.
  ///
  /// - Parameters:
  ///   - first: the wait after the first failure.
  ///   - longest: the longest wait.
  ///   - factor: by how much each wait grows.
  ///   - jitter: the random part of each wait, from 0 to 1.
  ///   - maximumRetries: the number of attempts that follow the first failure of a row; nil for no limit.
  ///   - resetAfter: the time for which a resource must have been held, so that its next failure counts as the first of a row.
  public init(
    first: Duration = .milliseconds(250), longest: Duration = .seconds(30), factor: Double = 2, jitter: Double = 0.2,
    maximumRetries: Int? = nil, resetAfter: Duration = .seconds(10)
  ) {
    (self.first, self.longest, self.factor, self.jitter) = (first, longest, factor, jitter)
    (self.maximumRetries, self.resetAfter) = (maximumRetries, resetAfter)
  }

  /// Returns the wait after a number of failures in a row.
  ///
  /// It never shrinks. A jitter beyond its bounds counts as the nearer bound.
  ///
  /// - Parameters:
  ///   - failures: the number of failures, at least 1.
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
