/// Lets one of many equal events pass in each interval, and never loses the last one.
///
/// The type is pure.
///
/// The first event passes at once. All events in the interval after it pass as one, at the end of the interval: a
/// component that freed memory after the first warning must learn that this was not enough.
struct RateLimit: Sendable, Hashable {
  let interval: Duration
  private var end: Duration?
  private var isOwed = false

  init(interval: Duration) { self.interval = interval }

  /// The time at which ``passTime(at:)`` must be called; nil if no event waits.
  var deadline: Duration? { isOwed ? end : nil }

  /// Handles an event; returns true if it passes now.
  mutating func takeEvent(at now: Duration) -> Bool {
    if let end, now < end {
      isOwed = true
      return false
    }
    end = now + interval
    isOwed = false
    return true
  }

  /// Returns true if the events of the interval pass now.
  mutating func passTime(at now: Duration) -> Bool {
    guard isOwed, let end, now >= end else { return false }
    isOwed = false
    return takeEvent(at: now)
  }
}
