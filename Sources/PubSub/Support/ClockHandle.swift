#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

extension Clock {
  /// Whether one clock of this type is as good as another.
  var hasNoParts: Bool { MemoryLayout<Self>.size == 0 }
}

/// A clock of any type, opened once: instants become durations since then, which can be stored and compared.
package struct ClockHandle: Sendable {
  /// The time since the clock was opened.
  package let now: @Sendable () -> Duration
  package let sleepUntil: @Sendable (Duration) async throws -> Void
  /// Lets the time pass that a script gives a call of this name; nil where time passes by itself.
  package let passTime: (@Sendable (_ call: String) -> Void)?

  package init(_ clock: any Clock<Duration>) {
    // Of the system's clocks the type is named, so that nothing of it is looked up at each reading.
    self =
      switch clock {
      #if os(Linux)
        case let clock as SuspendingClock: Self.opening(clock, reading: Self.reading(CLOCK_MONOTONIC))
        case let clock as ContinuousClock: Self.opening(clock, reading: Self.reading(CLOCK_BOOTTIME))
      #endif
      default: Self.opening(clock)
      }
  }

  private init<C: Clock>(_ clock: C, since origin: C.Instant, now: @escaping @Sendable () -> Duration)
  where C.Duration == Duration {
    self.now = now
    sleepUntil = { try await clock.sleep(until: origin.advanced(by: $0), tolerance: nil) }
    if let clock = clock as? any SimulatedClock { passTime = { clock.passTime(in: $0) } } else { passTime = nil }
  }

  private static func opening<C: Clock>(_ clock: C) -> ClockHandle where C.Duration == Duration {
    let origin = clock.now
    return ClockHandle(clock, since: origin) { origin.duration(to: clock.now) }
  }

  /// The instant after a delay, at most a century ahead.
  ///
  /// Clocks count nanoseconds in 64 bits; a century is short enough to be added to, and long enough.
  package func instant(after delay: Duration) -> Duration { now() + min(delay, .seconds(100 * 365 * 86_400)) }
}

#if os(Linux)
  extension ClockHandle {
    /// A clock with readings of its own, which begin before: so no sleep ends early.
    private static func opening<C: Clock>(_ clock: C, reading now: @escaping @Sendable () -> Duration) -> ClockHandle
    where C.Duration == Duration { ClockHandle(clock, since: clock.now, now: now) }

    /// The readings of one of the system's clocks, from now on.
    ///
    /// Where each handler of a notification is measured, going through the standard library's clock, which reads the same one, would
    /// cost a fifth of the whole.
    private static func reading(_ id: clockid_t) -> @Sendable () -> Duration {
      var origin = timespec()
      clock_gettime(id, &origin)
      return { [origin] in
        var time = timespec()
        clock_gettime(id, &time)
        return Duration(
          secondsComponent: Int64(time.tv_sec - origin.tv_sec),
          attosecondsComponent: Int64(time.tv_nsec - origin.tv_nsec) * 1_000_000_000)
      }
    }
  }
#endif
