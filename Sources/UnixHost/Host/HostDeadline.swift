/// The deadline by which the main actor must have answered.
///
/// The host looks at the time at least every ``wait``. If it does so ``gap`` or more after the time before, its thread
/// was late, mostly because the computer had no processor for it. The main actor may have had none either, so it has the
/// grace period from then on before the host ends the wait and reports it. It also has that period after a save for which
/// the application has exceeded its budget.
struct HostDeadline: Sendable, Hashable {
  typealias Instant = SuspendingClock.Instant

  /// The longest time between two checks of a host that is not late.
  static let wait = Duration.milliseconds(100)
  /// The time between two checks from which the host is late.
  static let gap = wait * 2
  /// The time after the deadline from which the grace period does not begin again, so that the wait ends on a computer
  /// that is always late, too.
  static let limit = Duration.seconds(1)
  /// The time after the deadline for which a save is waited for: a disk that does not answer must not keep the process.
  static let longestSave = Duration.seconds(30)

  private struct Armed: Sendable, Hashable {
    let deadline: Instant
    /// The deadline, or the end of the grace period after the last late check.
    var end: Instant
    var lastCheck: Instant
  }

  /// Nil if the deadline is not armed.
  private var armed: Armed?

  var isArmed: Bool { armed != nil }

  /// Arms the deadline instead of an earlier one; nil disarms it.
  mutating func arm(_ duration: Duration?, at now: Instant) {
    armed = duration.map { Armed(deadline: now + $0, end: now + $0, lastCheck: now) }
  }

  /// The time until the deadline; zero if none is armed.
  func timeLeft(at now: Instant) -> Duration { armed.map { max(.zero, $0.end - now) } ?? .zero }

  /// Checks whether the deadline has passed, and disarms it then.
  ///
  /// - Parameters:
  ///   - now: the time.
  ///   - grace: the grace period.
  ///   - isSaving: whether the main actor saves the program's state, and returns when it has.
  /// - Returns: whether it has passed.
  mutating func check(at now: Instant, grace: Duration, isSaving: Bool = false) -> Bool {
    guard var present = armed else { return false }
    let isLate = now - present.lastCheck >= Self.gap
    let limit = isSaving ? Self.longestSave : isLate ? Self.limit : nil
    if let limit, now - present.deadline <= limit { present.end = max(present.end, now + grace) }
    present.lastCheck = now
    armed = now < present.end ? present : nil
    return armed == nil
  }

  /// Waits in slices, each of which counts as ``gap`` at most, so that a stop of the process does not use up the time.
  ///
  /// - Parameters:
  ///   - time: the time until the deadline.
  ///   - grace: the grace period after a slice that was late.
  ///   - slice: waits for ``wait`` at most, and returns how long it took; nil if there is nothing left to wait for.
  /// - Returns: whether the deadline has passed.
  static func passes(after time: Duration, grace: Duration, _ slice: () -> Duration?) -> Bool {
    var (deadline, now) = (HostDeadline(), Instant.now)
    deadline.arm(time, at: now)
    while !deadline.check(at: now, grace: grace) {
      guard let length = slice() else { return false }
      now += min(length, gap)
    }
    return true
  }
}

extension Optional where Wrapped: Comparable {
  /// Returns whether a time has come, and forgets it then; false without one.
  mutating func hasCome(by now: Wrapped) -> Bool {
    guard let time = self, now >= time else { return false }
    self = nil
    return true
  }
}
