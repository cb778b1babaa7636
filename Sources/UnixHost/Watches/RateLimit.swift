/// Lets one of many equal events pass in an interval, and loses the last one of none.
///
/// Pure.
///
/// The first passes at once. All that come within the interval after it pass as one, at the interval's end: a component that
/// freed memory at the first warning must learn that this was not enough.
struct RateLimit: Sendable, Hashable {
  let interval: Duration
  private var end: Duration?
  private var isOwed = false

  init(interval: Duration) { self.interval = interval }

  /// When ``passTime(at:)`` has something to do.
  var deadline: Duration? { isOwed ? end : nil }

  /// Something has happened; true if it passes now.
  mutating func takeEvent(at now: Duration) -> Bool {
    if let end, now < end {
      isOwed = true
      return false
    }
    end = now + interval
    isOwed = false
    return true
  }

  /// True if what came during the interval passes now.
  mutating func passTime(at now: Duration) -> Bool {
    guard isOwed, let end, now >= end else { return false }
    isOwed = false
    return takeEvent(at: now)
  }
}
