import AppLifecycle

/// Tells which change of the wall clock is a significant one.
///
/// Pure.
struct WallClockJudge: Sendable, Hashable {
  /// What matters of a moment.
  struct Reading: Sendable, Hashable {
    /// The wall clock, since 1970.
    var wall: Duration
    /// A clock that cannot be set, and that goes on while the machine sleeps.
    var continuous: Duration
    /// How long of that the machine has slept.
    var sleep: Duration
    /// The date in the local zone, as a number that differs from one day to the next.
    var day: Int
    /// Seconds east of Greenwich.
    var offset: Int
  }

  /// A significant change.
  enum Change: LifecycleCause, Sendable, Hashable {
    /// The clock was set.
    case clockSet = "clock set"
    /// Another day has begun.
    case midnight = "midnight"
    /// The local clock was put forward or back, as every year.
    case daylightSaving = "daylight saving time"
    /// Another zone's time is the local time.
    case timeZone = "time zone"
  }

  /// A clock that is merely regulated does not get so far between two looks.
  private static let regulation = Duration.seconds(2)
  /// Sleep is much longer; reading two clocks one after the other is much shorter.
  private static let shortestSleep = Duration.milliseconds(100)

  private var last: Reading
  private var zone: [UInt8]?

  /// - Parameters:
  ///   - reading: the present.
  ///   - zone: the rules of the local zone, as they are stored.
  init(_ reading: Reading, zone: [UInt8]?) {
    last = reading
    self.zone = zone
  }

  /// The kernel says that the clock has jumped.
  ///
  /// It says so after every sleep, too, and then the clock is right again to a second or so.
  mutating func clockWasSet(_ reading: Reading) -> Change? {
    let slept = reading.sleep - last.sleep >= Self.shortestSleep
    guard !slept || hasJumped(to: reading) else { return timerWentOff(reading) }
    last = reading
    return .clockSet
  }

  /// Compares the present with the last reading, on systems that do not report when the clock is set.
  mutating func look(_ reading: Reading) -> Change? {
    guard !hasJumped(to: reading) else {
      last = reading
      return .clockSet
    }
    return timerWentOff(reading)
  }

  /// The clock has reached the time for which the timer was armed, and was not set meanwhile.
  mutating func timerWentOff(_ reading: Reading) -> Change? {
    defer { last = reading }
    if reading.day != last.day { return .midnight }
    return reading.offset == last.offset ? nil : .daylightSaving
  }

  /// The stored rules of the zone may have changed.
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

/// The local calendar, as far as it matters here.
struct LocalCalendar: Sendable {
  /// The date, as a number that differs from one day to the next, and the seconds east of Greenwich, at a time since 1970.
  var local: @Sendable (_ seconds: Int) -> (day: Int, offset: Int)

  /// The first second after this one with another date or another offset from Greenwich.
  ///
  /// Midnight, where a day has one: some begin at one o'clock. Never more than two days away.
  ///
  /// - Complexity: some twenty look-ups.
  func nextChange(after seconds: Int) -> Int {
    let present = local(seconds)
    // Once the date or the offset has changed neither is what it was for the rest of the search.
    var before = seconds
    var after = seconds + 48 * 3600
    while after - before > 1 {
      let middle = before + (after - before) / 2
      if local(middle) == present { before = middle } else { after = middle }
    }
    return after
  }
}
