#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// A clock of any type, whose instants are durations since the handle was made, so that they can be stored and
/// compared.
package struct ClockHandle: Sendable {
  package let now: @Sendable () -> Duration
  package let sleepUntil: @Sendable (Duration) async throws -> Void
  /// The clock of the system on which deadlines ring; nil for any other clock.
  ///
  /// ``now`` may lag behind it, as time in suspension does not count; then the alarm is set again.
  package let systemClock: TimerThread.SystemClock?
  /// Advances a simulated clock by the time that a script assigns to a call of this name; nil for a real clock.
  package let passTime: (@Sendable (_ call: String) -> Void)?

  package init(_ clock: any Clock<Duration>) {
    self =
      switch clock {
      case is SuspendingClock: ClockHandle(system: .suspending)
      case is ContinuousClock: ClockHandle(system: .continuous)
      case let clock as any ClockWithHandle: clock.handle
      default: Self.opening(clock)
      }
  }

  private init(system: TimerThread.SystemClock) {
    let now = Self.reading(system)
    (self.now, systemClock, passTime) = (now, system, nil)
    sleepUntil = { deadline in
      if deadline <= now() { return try Task.checkCancellation() }
      let wait = OneShot<Bool>()
      let clear = TimerThread.shared.set(after: deadline - now(), on: system) { wait.settle(true) }
      let isOver = await withTaskCancellationHandler {
        await wait.value
      } onCancel: {
        wait.settle(false)
      }
      if isOver { return }
      clear()
      throw CancellationError()
    }
  }

  private static func opening<C: Clock>(_ clock: C) -> ClockHandle where C.Duration == Duration {
    let origin = clock.now
    var passTime: (@Sendable (String) -> Void)?
    if let simulated = clock as? any SimulatedClock { passTime = { simulated.passTime(in: $0) } }
    return ClockHandle(
      now: { origin.duration(to: clock.now) },
      sleepUntil: { try await clock.sleep(until: origin.advanced(by: $0), tolerance: nil) },
      systemClock: nil, passTime: passTime)
  }

  package init(
    now: @escaping @Sendable () -> Duration, sleepUntil: @escaping @Sendable (Duration) async throws -> Void,
    systemClock: TimerThread.SystemClock? = nil, passTime: (@Sendable (String) -> Void)? = nil
  ) {
    (self.now, self.sleepUntil, self.systemClock, self.passTime) = (now, sleepUntil, systemClock, passTime)
  }

  /// Returns the instant after a delay, at most a century ahead.
  package func instant(after delay: Duration) -> Duration { now() + min(delay, .century) }
}

extension Duration {
  /// The longest delay: clocks count nanoseconds in 64 bits, and a duration may be too large to be added to an instant.
  package static let century = Duration.seconds(100 * 365 * 86_400)
}

/// A clock that is made from a handle.
package protocol ClockWithHandle: Clock {
  var handle: ClockHandle { get }
}

extension ClockHandle {
  /// Returns a function that reads one of the system's clocks, from now on.
  ///
  /// A life cycle's post measures each handler. With the standard library's clock these readings would take a fifth of
  /// its time.
  private static func reading(_ clock: TimerThread.SystemClock) -> @Sendable () -> Duration {
    #if os(Linux)
      let id = clock == .continuous ? CLOCK_BOOTTIME : CLOCK_MONOTONIC
      var origin = timespec()
      clock_gettime(id, &origin)
      return { [origin] in
        var time = timespec()
        clock_gettime(id, &time)
        let seconds = Int64(time.tv_sec - origin.tv_sec)
        return .nanoseconds(seconds * 1_000_000_000 + Int64(time.tv_nsec - origin.tv_nsec))
      }
    #else
      switch clock {
      case .continuous:
        let origin = ContinuousClock.now
        return { origin.duration(to: .now) }
      case .suspending:
        let origin = SuspendingClock.now
        return { origin.duration(to: .now) }
      }
    #endif
  }
}
