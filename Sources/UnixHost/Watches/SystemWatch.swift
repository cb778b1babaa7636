import AppLifecycle
import LibC
import Scheduling

/// An event of the machine that concerns every program.
enum SystemFact: Sendable, Hashable {
  case memoryIsShort
  case timeChanged(WallClockJudge.Change)
  case wasSuspended(Suspension)
}

/// The machine's events that every host watches: memory, wall clock, time zone, and gaps in time.
///
/// The host opens it at its beginning; afterwards only the host's thread uses it.
struct SystemWatch: Sendable {
  /// The interval in which at most one memory warning is reported.
  private static let warningInterval = Duration.seconds(2)
  /// The delay between a change of the zone file and its reading, so that a file that is removed and created again does
  /// not count as removed.
  private static let zoneDelay = Duration.milliseconds(100)

  private var memory: MemoryPressureSource?
  private var warnings = RateLimit(interval: Self.warningInterval)
  private let clock: WallClock
  private let zone: TimeZoneFile
  private var zoneDeadline: Duration?
  private var judge: WallClockJudge
  /// The change that was found while the timer was armed, and has not been returned yet.
  private var changeAtArming: WallClockJudge.Change?
  private var detector: SuspensionDetector
  /// The descriptor of the scheduler's statistics of the host's thread; -1 without them.
  private(set) var account: Int32 = -1
  private let runningOrigin = SuspendingClock.now
  private let continuousOrigin = ContinuousClock.now

  /// The facts that the watch can observe.
  private(set) var capabilities: [HostCapability: HostCapability.Availability]

  /// Opens the available sources.
  init(clock: WallClock?) {
    let zone = TimeZoneFile.live()
    let clock = clock ?? .live()
    (self.zone, self.clock) = (zone, clock)
    capabilities = [.wallClock: clock.availability, .timeZone: zone.availability, .session: LogindWatch.availability]
    do {
      let source = try MemoryPressureSource(Environment.variable)
      capabilities[.memoryPressure] = .available(source.name)
      memory = source
    } catch {
      capabilities[.memoryPressure] = .unavailable(error.reason)
    }
    // The host's thread, whose statistics count, does not run yet; it has some where this thread has.
    let account = SchedulerAccount.open()
    if account >= 0 { LibC.close(account) }
    capabilities[.suspension] = .available(
      account < 0
        ? "SIGCONT and the machine's clocks, read once a second"
        : "SIGCONT, the machine's clocks and the scheduler's statistics, read once a second")
    let nothing = SuspensionDetector.Sample(running: .zero, sleep: .zero, runDelay: nil)
    detector = SuspensionDetector(nothing)
    let (wall, day, offset) = clock.read()
    judge = WallClockJudge(
      WallClockJudge.Reading(wall: wall, continuous: .zero, sleep: .zero, day: day, offset: offset),
      zone: zone.contents)
  }

  /// Begins the watch, on the host's thread.
  mutating func begin() {
    account = SchedulerAccount.open()
    detector.showLife(sample)
    armClock()
  }

  mutating func close() {
    memory?.close()
    for descriptor in [clock.descriptor, zone.descriptor, account] where descriptor >= 0 { LibC.close(descriptor) }
    account = -1
  }

  // MARK: Waiting

  /// The descriptors to poll.
  var descriptors: [pollfd] {
    [
      pollfd(fd: memory?.descriptor ?? -1, events: Int16(memory?.events ?? 0), revents: 0),
      pollfd(fd: clock.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: zone.descriptor, events: Int16(POLLIN), revents: 0),
    ]
  }

  /// The latest time at which the thread must wake up.
  var deadline: SuspendingClock.Instant {
    let times = [warnings.deadline, zoneDeadline, running + SuspensionDetector.tick]
    return runningOrigin + times.compactMap { $0 }.min()!
  }

  /// Notes a sign of life; the time before it is known.
  mutating func showLife() { detector.showLife(sample) }

  /// Notes that the thread is about to wait.
  mutating func willWait() { detector.willWait(sample) }

  /// Whether a signal may just have stopped the process.
  var suspectsStop: Bool { detector.suspectsStop(sample) }

  /// Returns the suspensions of the process while the thread waited.
  mutating func takeSuspensions(wasContinued: Bool) -> [SystemFact] {
    detector.look(sample, wasContinued: wasContinued).map { .wasSuspended($0) }
  }

  /// Handles the ready descriptors, and returns the events of the machine.
  mutating func take(_ ready: ArraySlice<pollfd>) -> [SystemFact] {
    let events = ready.map { Int32($0.revents) }
    return takeMemory(events[0]) + takeClock(isReady: events[1] != 0) + takeZone(isReady: events[2] != 0)
  }

  private mutating func takeMemory(_ events: Int32) -> [SystemFact] {
    let isShort = memory?.take(events) ?? false
    let now = running
    // Pass the pending warning first, because the interval begins again with it.
    let passes = warnings.passTime(at: now)
    return (isShort && warnings.takeEvent(at: now)) || passes ? [.memoryIsShort] : []
  }

  private mutating func takeClock(isReady: Bool) -> [SystemFact] {
    var change: WallClockJudge.Change?
    if clock.descriptor < 0 {
      change = judge.look(reading)
    } else if isReady {
      while let notice = clock.next() {
        let news = notice == .set ? judge.clockWasSet(reading) : judge.timerWentOff(reading)
        change = change ?? news
      }
      armClock()
    }
    return (change ?? changeAtArming.take()).map { [.timeChanged($0)] } ?? []
  }

  private mutating func takeZone(isReady: Bool) -> [SystemFact] {
    let now = running
    if isReady, zone.takeTouch() { zoneDeadline = now + Self.zoneDelay }
    guard zoneDeadline.hasCome(by: now) else { return [] }
    tzset()
    guard let change = judge.zoneWasTouched(reading, zone: zone.contents) else { return [] }
    armClock()
    return [.timeChanged(change)]
  }

  private mutating func armClock() {
    // The clock may have been set since it was read.
    while !clock.arm(WallClock.nextChange(after: Int(clock.read().wall.components.seconds), by: clock.local)) {
      changeAtArming = judge.clockWasSet(reading) ?? changeAtArming
    }
  }

  // MARK: Reading

  private var running: Duration { runningOrigin.duration(to: .now) }

  private var reading: WallClockJudge.Reading {
    let (continuous, sleep) = clocks
    let (wall, day, offset) = clock.read()
    return WallClockJudge.Reading(wall: wall, continuous: continuous, sleep: sleep, day: day, offset: offset)
  }

  private var sample: SuspensionDetector.Sample {
    SuspensionDetector.Sample(running: running, sleep: clocks.sleep, runDelay: SchedulerAccount.runDelay(account))
  }

  /// The clock that counts sleep, and its lead over the clock that does not.
  private var clocks: (continuous: Duration, sleep: Duration) {
    var before = running
    var continuous = Duration.zero
    // The thread may lose its processor between two readings, which then cannot be compared.
    for _ in 0..<5 {
      continuous = continuousOrigin.duration(to: .now)
      let after = running
      if after - before < .milliseconds(1) { break }
      before = after
    }
    return (continuous, continuous - before)
  }
}
