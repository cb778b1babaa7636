/// Time that passes only while it is running: pure, as the present moment is handed in.
struct Stopwatch: Hashable, Sendable {
  private var total = Duration.zero
  private var since: Duration?

  /// Goes on; if it runs already, nothing changes.
  mutating func start(at now: Duration) { since = since ?? now }

  /// Pauses; if it stands already, nothing changes.
  mutating func stop(at now: Duration) {
    total = elapsed(at: now)
    since = nil
  }

  func elapsed(at now: Duration) -> Duration { total + (since.map { now - $0 } ?? .zero) }
}
