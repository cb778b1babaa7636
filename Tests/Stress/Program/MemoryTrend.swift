/// What the heap held after each round, when nothing was left of the round.
struct MemoryTrend {
  /// What stays from the first rounds: records of threads, tables of types, caches.
  private static let warmUp = 10
  /// What one round may leave in the caches of threads, and the next one take.
  static let slack = 1 << 20

  private var first: Int?
  private var last: Int?
  private var rounds = 0

  mutating func add(_ bytes: Int?) {
    guard let bytes else { return }
    rounds += 1
    if rounds <= Self.warmUp { first = max(first ?? 0, bytes) }
    last = bytes
  }

  var hasGrown: Bool {
    guard rounds > Self.warmUp, let first, let last else { return false }
    return last > first + Self.slack
  }

  var summary: String {
    guard let first, let last else { return "memory was not measured" }
    return "heap: \(first / 1024) KiB after the first rounds, \(last / 1024) KiB now"
  }
}
