/// What the heap held after each round, when nothing was left of the round.
///
/// Looked at in tenths of the whole time, as a round alone says little: dispatch keeps up to 1,024 blocks of 80 bytes for each
/// of its threads, and takes them and frees them as it likes.
struct MemoryTrend {
  /// How much more the caches of the threads may hold at the end: those of six, all full.
  static let slack = 512 << 10
  private static let parts = 10

  /// The least and the most of each tenth; nil where no round ended in it.
  private var ranges = [ClosedRange<Int>?](repeating: nil, count: Self.parts)
  private var last: Int?

  /// Adds what the heap holds after a round.
  ///
  /// - Parameters:
  ///   - bytes: what it holds; nil if it cannot be asked.
  ///   - progress: how much of the time has passed, from 0 to 1.
  mutating func add(_ bytes: Int?, at progress: Double) {
    guard let bytes else { return }
    let part = min(Int(progress * Double(Self.parts)), Self.parts - 1)
    let range = ranges[part] ?? bytes...bytes
    ranges[part] = min(range.lowerBound, bytes)...max(range.upperBound, bytes)
    last = bytes
  }

  /// Whether even the least of the last tenth is far above the most of the first.
  var hasGrown: Bool {
    let known = ranges.compactMap(\.self)
    guard known.count > 1 else { return false }
    return known[known.count - 1].lowerBound > known[0].upperBound + Self.slack
  }

  var summary: String {
    let known = ranges.compactMap(\.self)
    guard let first = known.first, let latest = known.last, let last else { return "memory was not measured" }
    return "heap: \(text(first)) KiB in the first tenth of the time, \(text(latest)) in the latest, \(last / 1024) now"
  }

  private func text(_ range: ClosedRange<Int>) -> String { "\(range.lowerBound / 1024) to \(range.upperBound / 1024)" }
}
