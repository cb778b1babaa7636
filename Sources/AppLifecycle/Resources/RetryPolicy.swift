/// When a resource that failed is tried again: after a wait that grows with each failure and differs between processes.
///
/// A failure is an acquire that throws, or a resource that breaks before it was held for ``resetAfter``.
public struct RetryPolicy: Sendable, Hashable {
  /// The wait after the first failure.
  public var first: Duration = .milliseconds(250)
  /// The longest wait.
  public var longest: Duration = .seconds(30)
  /// By how much each wait grows.
  public var factor: Double = 2
  /// How much of each wait is left to chance, from 0 to 1: with 0.2, between 80 and 100 per cent of it are waited.
  public var jitter: Double = 0.2

  /// How many attempts follow the first failure of a row; nil for as many as it takes.
  ///
  /// A resource that fails once more is given up: its status becomes ``ResourceStatus/failed(failures:)``. Zero or less
  /// allows no further attempt.
  public var maximumRetries: Int?
  /// How long a resource must have been held for its next failure to count as the first of a row.
  public var resetAfter: Duration = .seconds(10)

  /// A quarter of a second, doubling up to half a minute, a fifth of it left to chance; as many attempts as it takes.
  public init() {}

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
