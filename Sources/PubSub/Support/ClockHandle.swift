extension Clock {
  /// Whether one clock of this type is as good as another.
  var hasNoParts: Bool { MemoryLayout<Self>.size == 0 }
}

/// A clock of any type, opened once: instants become durations since then, which can be stored and compared.
struct ClockHandle: Sendable {
  let now: @Sendable () -> Duration
  let sleepUntil: @Sendable (Duration) async throws -> Void

  init(_ clock: any Clock<Duration>) { self = Self.opening(clock) }

  private init(now: @escaping @Sendable () -> Duration, sleepUntil: @escaping @Sendable (Duration) async throws -> Void)
  {
    (self.now, self.sleepUntil) = (now, sleepUntil)
  }

  private static func opening<C: Clock>(_ clock: C) -> ClockHandle where C.Duration == Duration {
    let origin = clock.now
    return ClockHandle(
      now: { origin.duration(to: clock.now) },
      sleepUntil: { try await clock.sleep(until: origin.advanced(by: $0), tolerance: nil) })
  }
}
