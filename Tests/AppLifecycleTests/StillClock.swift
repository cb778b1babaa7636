import AppLifecycleTesting

/// A clock that stands still, and on which nobody's time is ever up: other tests may keep the main actor for long.
final class StillClock: Clock {
  typealias Instant = ManualClock.Instant

  let now = Instant()
  let minimumResolution: Swift.Duration = .nanoseconds(1)
  /// Until when somebody wants to sleep, in the order in which it was asked for.
  let deadlines: AsyncStream<Instant>
  private let wasAsked: AsyncStream<Instant>.Continuation

  init() { (deadlines, wasAsked) = AsyncStream.makeStream() }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    wasAsked.yield(deadline)
    for await _ in AsyncStream.makeStream(of: Never.self).stream {}
    throw CancellationError()
  }
}
