import Synchronization

/// A clock that stands still, and whose sleep fails.
///
/// After a thousand sleeps its time is over: code that asks again and again fails its test, and does not hang it.
package final class SleeplessClock: Clock {
  package typealias Instant = ContinuousClock.Instant

  package struct SleepFailed: Error {
    package init() {}
  }

  package let minimumResolution: Swift.Duration = .nanoseconds(1)
  private let start = ContinuousClock.now
  private let count = Atomic(0)

  package init() {}

  /// The number of sleeps that failed.
  package var sleeps: Int { count.load(ordering: .relaxed) }
  package var now: Instant { sleeps < 1_000 ? start : start + .seconds(100 * 365 * 86_400) }

  package func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
    count.add(1, ordering: .relaxed)
    throw SleepFailed()
  }
}
