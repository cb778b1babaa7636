import AppLifecycleTesting

/// A clock that stands still, and on which no deadline ever passes: other tests may keep the main actor for long.
final class StillClock: Clock {
  typealias Instant = ManualClock.Instant

  let now = Instant()
  let minimumResolution: Swift.Duration = .nanoseconds(1)
  /// The deadlines of the sleepers, in the order in which they began to sleep.
  let deadlines: AsyncStream<Instant>
  private let wasAsked: AsyncStream<Instant>.Continuation

  init() { (deadlines, wasAsked) = AsyncStream.makeStream() }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    wasAsked.yield(deadline)
    for await _ in AsyncStream.makeStream(of: Never.self).stream {}
    throw CancellationError()
  }
}
