/// A stopwatch as a value: the caller passes the present moment.
struct Stopwatch: Hashable, Sendable {
  private var total = Duration.zero
  private var since: Duration?

  /// Starts or continues the stopwatch; without effect while it runs.
  mutating func start(at now: Duration) { since = since ?? now }

  /// Pauses the stopwatch; without effect while it is paused.
  mutating func stop(at now: Duration) {
    total = elapsed(at: now)
    since = nil
  }

  func elapsed(at now: Duration) -> Duration { total + (since.map { now - $0 } ?? .zero) }
}
