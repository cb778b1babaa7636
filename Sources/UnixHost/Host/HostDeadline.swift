/// The deadline by which the main actor must have answered.
///
/// The host looks at the time at least every ``wait``. If it does so ``gap`` or more after the time before, its thread
/// was late, mostly because the computer had no processor for it. The main actor may have had none either, so it has the
/// grace period from then on before the host ends the wait and reports it.
struct HostDeadline: Sendable, Hashable {
  typealias Instant = SuspendingClock.Instant

  /// The longest time between two checks of a host that is not late.
  static let wait = Duration.milliseconds(100)
  /// The time between two checks from which the host is late.
  static let gap = wait * 2
  /// The time after the deadline from which the grace period does not begin again, so that the wait ends on a computer
  /// that is always late, too.
  static let limit = Duration.seconds(1)

  /// The time for which the deadline was armed; nil if it is not armed.
  private var armed: Instant?
  /// The same time, or the end of the grace period after the last late check.
  private var end = Instant.now
  private var lastCheck = Instant.now

  var isArmed: Bool { armed != nil }

  /// Arms the deadline instead of an earlier one; nil disarms it.
  mutating func arm(_ duration: Duration?, at now: Instant) {
    armed = duration.map { now + $0 }
    (end, lastCheck) = (armed ?? now, now)
  }

  /// The time until the deadline; zero if none is armed.
  func timeLeft(at now: Instant) -> Duration { isArmed ? max(.zero, end - now) : .zero }

  /// Returns whether the deadline has passed; disarms it then.
  mutating func check(at now: Instant, grace: Duration) -> Bool {
    guard let armed else { return false }
    if now - lastCheck >= Self.gap, now - armed <= Self.limit { end = max(end, now + grace) }
    lastCheck = now
    guard now >= end else { return false }
    self.armed = nil
    return true
  }
}
