#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

extension Clock {
  /// Whether this type has no stored properties, so that all clocks of the type are interchangeable.
  var hasNoParts: Bool { MemoryLayout<Self>.size == 0 }
}

/// A clock of any type, whose instants are durations since the handle was made, so that they can be stored and
/// compared.
package struct ClockHandle: Sendable {
  /// Returns the time since the handle was made.
  package let now: @Sendable () -> Duration
  package let sleepUntil: @Sendable (Duration) async throws -> Void
  /// Advances a simulated clock by the time that a script assigns to a call of this name; nil for a real clock.
  package let passTime: (@Sendable (_ call: String) -> Void)?

  /// Makes a handle from its functions.
  package init(
    now: @escaping @Sendable () -> Duration, sleepUntil: @escaping @Sendable (Duration) async throws -> Void,
    passTime: (@Sendable (_ call: String) -> Void)?
  ) {
    (self.now, self.sleepUntil, self.passTime) = (now, sleepUntil, passTime)
  }

  package init(_ clock: any Clock<Duration>) {
    // For the system's clocks the static type is known here, so that a reading needs no look-up of metadata.
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

  /// Returns the instant after a delay, at most a century ahead.
  ///
  /// Clocks count nanoseconds in 64 bits, so a longer delay could overflow in the addition.
  package func instant(after delay: Duration) -> Duration { now() + min(delay, .seconds(100 * 365 * 86_400)) }
}

#if os(Linux)
  extension ClockHandle {
    /// Opens a clock with separate readings, whose origin is earlier than the clock's, so that no sleep ends early.
    private static func opening<C: Clock>(_ clock: C, reading now: @escaping @Sendable () -> Duration) -> ClockHandle
    where C.Duration == Duration { ClockHandle(clock, since: clock.now, now: now) }

    /// Returns a function that reads one of the system's clocks, from now on.
    ///
    /// A life cycle's post measures each handler. With the standard library's clock, which reads the same system clock,
    /// these readings would take a fifth of the time of the post.
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
