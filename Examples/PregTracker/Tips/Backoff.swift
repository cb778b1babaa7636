/// How long to wait before the next attempt: 1, 2, 4 … seconds, half a minute at most.
struct Backoff: Hashable, Sendable {
  private var delay = Duration.seconds(1)

  mutating func next() -> Duration {
    defer { delay = min(delay * 2, .seconds(30)) }
    return delay
  }
}
