/// The deadline by which the main actor must have answered.
///
/// The host looks at it at least every ``wait``. A look that comes ``gap`` or more after the one before shows that the
/// machine gave the host's thread no processor, and then perhaps the main actor none either. The main actor has the
/// grace period from then on, so that it is not cut, and not accused, for the time in which it could not run.
struct HostDeadline: Sendable, Hashable {
  typealias Instant = SuspendingClock.Instant

  /// The longest wait between two looks.
  static let wait = Duration.milliseconds(100)
  /// The time between two looks from which the machine is at fault.
  static let gap = wait * 2
  /// The sum of all extensions, so that the process ends on a machine that is always late, too.
  static let leeway = Duration.seconds(1)

  /// The time of the deadline; nil if none is armed.
  private var time: Instant?
  private var lastLook: Instant?
  private var leeway = HostDeadline.leeway

  var isArmed: Bool { time != nil }

  /// Arms the deadline instead of an earlier one; nil disarms it.
  mutating func arm(_ duration: Duration?, at now: Instant) {
    (time, lastLook, leeway) = (duration.map { now + $0 }, now, Self.leeway)
  }

  /// The time until the deadline; zero if none is armed.
  func timeLeft(at now: Instant) -> Duration { time.map { max(.zero, $0 - now) } ?? .zero }

  /// Looks at the time, and returns whether the deadline has passed; then it is no longer armed.
  mutating func hasPassed(at now: Instant, grace: Duration) -> Bool {
    guard let armed = time else { return false }
    if let last = lastLook, now - last >= Self.gap {
      let extra = min(leeway, max(.zero, now + grace - armed))
      leeway -= extra
      time = armed + extra
    }
    lastLook = now
    guard let time, now >= time else { return false }
    self.time = nil
    return true
  }
}
