import AppLifecycle

/// A pure state machine that decides when a line is due that says only that the program still runs; callers pass it the
/// time.
///
///     launch ─── 60 s without a line ─── alive ─── 60 s ─── alive ─── 20 s ─── home ─── … ─── suspended
///        timer ─────────────────────▶       ─────────▶       ─────────────────────▶ (40 s)    cleared
///
/// A line is due when the application runs and nothing was written for an interval. A written line does not reset the
/// timer: when the timer fires, it is set again for the rest of the interval. So it fires once an interval at most, and
/// never while the application is suspended or not running.
struct Heartbeat: Sendable, Hashable {
  /// What the caller must do with the timer.
  enum Step: Sendable, Hashable {
    /// Set the timer; when it fires, the caller passes the number to `timerWentOff`.
    case set(Duration, number: Int)
    case clear
  }

  /// The time without a line after which a line is due; nil for never.
  let interval: Duration?
  private var isRunning = false
  /// The time of the last line.
  private var last = Duration.zero
  /// The number of the set timer, which distinguishes it from one that fired although it was cleared.
  private var timer: Int?
  private var lastTimer = 0

  /// Makes a heartbeat; an interval of less than a second counts as one second.
  init(interval: Duration?) { self.interval = interval.map { max($0, .seconds(1)) } }

  /// Notes the application's state when a line was written, or should have been.
  mutating func note(_ state: ApplicationState, at instant: Duration) -> Step? {
    guard let interval else { return nil }
    last = max(last, instant)
    isRunning = state.isInMemory && state != .suspended
    if isRunning, timer == nil { return set(for: last + interval) }
    guard !isRunning, timer != nil else { return nil }
    timer = nil
    return .clear
  }

  /// Notes that a timer has fired; returns whether a line is due, and the next step.
  mutating func timerWentOff(_ number: Int, at now: Duration) -> (isDue: Bool, next: Step?) {
    guard let interval, timer == number else { return (false, nil) }
    let isDue = now >= last + interval
    if isDue { last = now }
    return (isDue, set(for: last + interval))
  }

  private mutating func set(for deadline: Duration) -> Step {
    lastTimer += 1
    timer = lastTimer
    return .set(deadline, number: lastTimer)
  }
}
