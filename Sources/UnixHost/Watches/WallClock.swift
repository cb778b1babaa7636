import CUnixHost
import LibC

/// The wall clock with a timer that wakes the host up.
package struct WallClock: Sendable {
  /// An event of the timer.
  package enum Notice: Sendable, Hashable {
    /// The clock was set.
    case set
    /// The clock has reached the time for which the timer was armed.
    case reached
  }

  /// The descriptor to poll; -1 without a timer.
  package var descriptor: Int32
  /// The way in which changes are observed, or the reason why they are not.
  package var availability: HostCapability.Availability
  /// Returns the time since 1970, the date as a number that differs between consecutive days, and the offset in seconds
  /// east of Greenwich.
  package var read: @Sendable () -> (wall: Duration, day: Int, offset: Int)
  /// Returns the date and the offset at another time.
  package var local: @Sendable (_ seconds: Int) -> (day: Int, offset: Int)
  /// Arms the timer for a time since 1970, instead of an earlier one; returns false if the clock was set before, and no
  /// event reports that.
  package var arm: @Sendable (_ seconds: Int) -> Bool
  /// Returns the next event of the timer; nil if there is none.
  package var next: @Sendable () -> Notice?

  /// Creates a clock.
  package init(
    descriptor: Int32, availability: HostCapability.Availability,
    read: @escaping @Sendable () -> (wall: Duration, day: Int, offset: Int),
    local: @escaping @Sendable (_ seconds: Int) -> (day: Int, offset: Int),
    arm: @escaping @Sendable (_ seconds: Int) -> Bool, next: @escaping @Sendable () -> Notice?
  ) {
    self.descriptor = descriptor
    self.availability = availability
    self.read = read
    self.local = local
    self.arm = arm
    self.next = next
  }

  /// Opens the source of the machine.
  ///
  /// Without a timer that reports when the clock is set, the host reads the clock whenever it wakes up, once a second.
  static func live() -> WallClock {
    let timer = unixhost_clock_timer_open()
    let way = timer >= 0 ? "reported by the kernel" : "read once a second"
    return WallClock(
      descriptor: timer, availability: .available(way),
      read: {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let (day, offset) = liveLocal(Int(now.tv_sec))
        return (.seconds(now.tv_sec) + .nanoseconds(now.tv_nsec), day, offset)
      }, local: liveLocal, arm: { timer < 0 || unixhost_clock_timer_arm(timer, Int64($0)) },
      next: {
        switch timer >= 0 ? unixhost_clock_timer_take(timer) : UNIXHOST_CLOCK_QUIET {
        case UNIXHOST_CLOCK_SET: .set
        case UNIXHOST_CLOCK_REACHED: .reached
        default: nil
        }
      })
  }

  /// Returns the first second after a given one with another date or another offset from Greenwich.
  ///
  /// Usually that is midnight; some days begin at one o'clock. It is never more than two days away.
  ///
  /// - Complexity: some twenty look-ups.
  static func nextChange(after seconds: Int, by local: (_ seconds: Int) -> (day: Int, offset: Int)) -> Int {
    let present = local(seconds)
    // After a change of the date or the offset, both stay different for the rest of the search.
    var before = seconds
    var after = seconds + 48 * 3600
    while after - before > 1 {
      let middle = before + (after - before) / 2
      if local(middle) == present { before = middle } else { after = middle }
    }
    return after
  }

  private static let liveLocal: @Sendable (Int) -> (day: Int, offset: Int) = { seconds in
    var time = time_t(seconds)
    var fields = tm()
    localtime_r(&time, &fields)
    return (Int(fields.tm_year) * 1000 + Int(fields.tm_yday), Int(fields.tm_gmtoff))
  }
}
