import AppLifecycle

/// Determines which changes of the wall clock are significant.
///
/// The type is pure.
struct WallClockJudge: Sendable, Hashable {
  /// The readings of one moment.
  struct Reading: Sendable, Hashable {
    /// The wall clock, as a time since 1970.
    var wall: Duration
    /// A clock that cannot be set, and continues while the machine sleeps.
    var continuous: Duration
    /// The part of that time for which the machine has slept.
    var sleep: Duration
    /// The date in the local zone, as a number that differs between consecutive days.
    var day: Int
    /// The offset of the local zone, in seconds east of Greenwich.
    var offset: Int
  }

  /// A significant change.
  enum Change: LifecycleCause, Sendable, Hashable {
    /// The clock was set.
    case clockSet = "clock set"
    /// Another day has begun.
    case midnight = "midnight"
    /// Daylight saving time has begun or ended.
    case daylightSaving = "daylight saving time"
    /// The local time zone has changed.
    case timeZone = "time zone"
  }

  /// More than a clock that is only adjusted gradually can deviate between two readings.
  private static let regulation = Duration.seconds(2)
  /// The shortest time that counts as sleep: sleep is much longer, and reading two clocks takes much less.
  private static let shortestSleep = Duration.milliseconds(100)

  private var last: Reading
  private var zone: [UInt8]?

  /// - Parameters:
  ///   - reading: the current readings.
  ///   - zone: the rules of the local zone, as they are stored.
  init(_ reading: Reading, zone: [UInt8]?) {
    last = reading
    self.zone = zone
  }

  /// Handles the kernel's report that the clock has jumped.
  ///
  /// The kernel also reports this after every sleep, when the clock has been corrected to about a second.
  mutating func clockWasSet(_ reading: Reading) -> Change? {
    let slept = reading.sleep - last.sleep >= Self.shortestSleep
    guard !slept || hasJumped(to: reading) else { return timerWentOff(reading) }
    last = reading
    return .clockSet
  }

  /// Compares the current reading with the last one, on systems that do not report when the clock is set.
  mutating func look(_ reading: Reading) -> Change? {
    guard !hasJumped(to: reading) else {
      last = reading
      return .clockSet
    }
    return timerWentOff(reading)
  }

  /// Handles the timer: the clock has reached the armed time, and was not set meanwhile.
  mutating func timerWentOff(_ reading: Reading) -> Change? {
    defer { last = reading }
    if reading.day != last.day { return .midnight }
    return reading.offset == last.offset ? nil : .daylightSaving
  }

  /// Handles a possible change of the stored rules of the zone.
  mutating func zoneWasTouched(_ reading: Reading, zone: [UInt8]?) -> Change? {
    guard zone != self.zone else { return nil }
    self.zone = zone
    last = reading
    return .timeZone
  }

  private func hasJumped(to reading: Reading) -> Bool {
    let jump = (reading.wall - last.wall) - (reading.continuous - last.continuous)
    return jump >= Self.regulation || jump <= .zero - Self.regulation
  }
}
