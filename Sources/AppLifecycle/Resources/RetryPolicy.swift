/// A policy that determines when a failed resource is tried again.
///
/// The delay grows with each failure in a row. Its random part makes processes differ. A *failure* is an acquire that
/// throws, or a break before the resource was held for ``resetAfter``.
///
/// | what happens | next attempt | row of failures |
/// | --- | --- | --- |
/// | an acquire throws | after a delay | grows by one |
/// | the resource breaks before it was held for ``resetAfter`` | after a delay | grows by one: earlier failures still count |
/// | the resource breaks after it was held for ``resetAfter`` or longer | at once | ends |
/// | the first health check fails, however late | after a delay | grows by one |
/// | the resource breaks before it is ready, however late | after a delay | grows by one |
/// | the phase closes | when the phase opens again | ends |
/// | a dependency breaks | when the dependency is held again | ends |
///
/// The delay after the first failure in a row is ``first``, after the second ``first`` times ``factor``, and so on up to
/// ``longest``. A successful acquire alone does not end the row: a connection that breaks two seconds after each acquire
/// is tried again after about 0.25 s, 0.5 s, 1 s, … by default.
public struct RetryPolicy: Sendable, Hashable {
  /// The delay after the first failure in a row.
  ///
  /// A break after ``resetAfter`` is no failure, so no delay follows it: the resource is acquired again at once. A delay
  /// below a millisecond counts as one, so zero grows, too. For that delay after each failure set ``longest`` to zero as
  /// well.
  public var first: Duration
  /// The longest delay.
  public var longest: Duration
  /// The factor by which each delay grows.
  public var factor: Double
  /// The random part of each delay, from 0 to 1: with 0.2 each delay is between 80 and 100 percent of its full length.
  public var jitter: Double

  /// The number of retries after the first failure in a row; nil for no limit.
  ///
  /// When a resource fails after the last retry, its status becomes ``ResourceStatus/failed(failures:)``. Zero or less
  /// allows no retry.
  public var maximumRetries: Int?
  /// The time for which a resource must be held so that its break is no failure and ends the row of failures.
  ///
  /// After such a break the resource is acquired again at once. A shorter hold does not end the row: earlier failures
  /// still count. If the first health check of a resource fails, that counts as a failure, however long the resource was
  /// held.
  public var resetAfter: Duration

  /// What follows when a resource has failed after the last retry.
  public enum Exhaustion: Sendable, Hashable {
    /// The resource stays failed, and the application goes on without it.
    ///
    /// A handler of ``Application/ResourceDidChange`` may decide otherwise, or ask the user.
    case stay
    /// The application ends in order, and its host returns this exit status; see ``Application/shutDown(status:cause:)``.
    case shutDown(status: Int32)
  }

  /// What follows when the resource has failed after the last retry.
  public var whenExhausted: Exhaustion

  /// A policy without retries: the first failure ends the application in order, with an exit status.
  ///
  /// It is what a group of services does: an acquire that throws, a break, and a loop that ends and breaks its resource end the
  /// program, however long the resource was held. A service manager then decides whether to start it again. It is for resources; for a body,
  /// choose ``RunEnd/shutDown(status:)``.
  ///
  /// - Parameter status: the exit status.
  /// - Returns: the policy.
  public static func failFast(status: Int32 = 1) -> RetryPolicy {
    RetryPolicy(maximumRetries: 0, resetAfter: .seconds(Int64.max), whenExhausted: .shutDown(status: status))
  }

  /// Creates a policy.
  ///
  /// By default the first delay is 0.25 s, and doubles up to 30 s. A fifth of each delay is random, and the number of
  /// retries has no limit.
  ///
  /// - Parameters:
  ///   - first: the delay after the first failure in a row.
  ///   - longest: the longest delay.
  ///   - factor: the factor by which each delay grows.
  ///   - jitter: the random part of each delay, from 0 to 1.
  ///   - maximumRetries: the number of retries after the first failure in a row; nil for no limit.
  ///   - resetAfter: the time for which a resource must be held so that its break is no failure and ends the row of
  ///     failures.
  ///   - whenExhausted: what follows when the resource has failed after the last retry.
  public init(
    first: Duration = .milliseconds(250), longest: Duration = .seconds(30), factor: Double = 2, jitter: Double = 0.2,
    maximumRetries: Int? = nil, resetAfter: Duration = .seconds(10), whenExhausted: Exhaustion = .stay
  ) {
    (self.first, self.longest, self.factor, self.jitter) = (first, longest, factor, jitter)
    (self.maximumRetries, self.resetAfter, self.whenExhausted) = (maximumRetries, resetAfter, whenExhausted)
  }

  /// The shortest delay.
  ///
  /// A resource that fails at once, tried again without a delay, would keep a processor busy.
  package static let shortest = Duration.milliseconds(1)

  /// Returns the delay after a number of failures in a row.
  ///
  /// Without jitter the delay never shrinks as failures grow. It is never below a millisecond, whatever the properties
  /// are. A factor below 1, or one that is not a number, counts as 1, a jitter outside its bounds as the nearer bound,
  /// and a jitter that is not a number as 0.
  ///
  /// - Parameters:
  ///   - failures: the number of failures, at least 1.
  ///   - chance: a number between 0 and 1, the part of the jitter that is subtracted.
  /// - Returns: the delay.
  /// - Complexity: linear in the number of failures until the longest delay is reached.
  public func delay(afterFailures failures: Int, chance: Double) -> Duration {
    let longest = max(longest, Self.shortest)
    var delay = min(max(first, Self.shortest), longest)
    var left = max(failures, 1) - 1
    while left > 0, delay < longest, factor > 1 {
      // Compare before multiplying, so that the product cannot overflow.
      delay = delay / longest * factor < 1 ? delay * factor : longest
      left -= 1
    }
    let share = min(max(jitter, 0), 1) * min(max(chance, 0), 1)
    return share > 0 ? min(max(delay * (1 - share), Self.shortest), delay) : delay
  }
}
