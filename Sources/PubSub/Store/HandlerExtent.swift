internal import CPubSub

/// Which places of a buffer posts look at: those before an end, but for one gap, in which all handlers are cancelled.
///
/// While posts are always under way and handlers are subscribed and cancelled again and again, no place can be given away a
/// second time, and new handlers stand ever farther behind the others. Without the gap, each post would call nothing in every
/// place between.
///
/// One word, which posts read at a blow: 32 bits of end, 24 of the gap's length, 8 of how many places follow it.
struct HandlerExtent: Equatable {
  let word: UInt64

  init(word: UInt64) { self.word = word }

  init(end: Int = 0) { self.init(end: end, gap: 0, after: 0) }

  private init(end: Int, gap: Int, after: Int) { word = UInt64(after) << 56 | UInt64(gap) << 32 | UInt64(end) }

  static let longestGap = 1 << 24 - 1
  static let mostAfter = 1 << 8 - 1

  /// The place behind the last.
  var end: Int { pubsub_extent_end(word) }
  /// The places that are left out.
  var gap: Range<Int> {
    let upper = end - after
    return upper - pubsub_extent_gap(word)..<upper
  }

  private var after: Int { pubsub_extent_after(word) }

  /// The extent with one handler more, at the end or farther behind, where those between are cancelled.
  ///
  /// Of two gaps the longer is left out, and one that cannot be told is not: what is cancelled may be looked at.
  func extended(to place: Int) -> HandlerExtent {
    let (skipped, gap) = (place - end, gap.count)
    if skipped > gap {
      return skipped > Self.longestGap ? .init(end: place + 1) : .init(end: place + 1, gap: skipped, after: 1)
    }
    let after = after + skipped + 1
    return gap == 0 || after > Self.mostAfter ? .init(end: place + 1) : .init(end: place + 1, gap: gap, after: after)
  }

  /// Leaves out the last place; and the gap, if that is what comes before.
  mutating func removeLast() {
    let gap = gap
    if gap.isEmpty {
      self = .init(end: end - 1)
    } else if after == 1 {
      self = .init(end: gap.lowerBound)
    } else {
      self = .init(end: end - 1, gap: gap.count, after: after - 1)
    }
  }
}
