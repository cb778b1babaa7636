import AppLifecycle

/// When a line is due that says nothing but that the program still runs: a pure state machine, told instants.
///
///     launch ─── 60 s without a line ─── alive ─── 60 s ─── alive ─── 20 s ─── home ─── … ─── suspended
///        timer ─────────────────────▶       ─────────▶       ─────────────────────▶ (40 s)    cleared
///
/// A line is due when the application runs and nothing was written for an interval. The timer is not set anew by each line:
/// once it goes off, it is set for what is left. So it goes off once an interval at most, and never while the application is
/// suspended or not running.
struct Heartbeat: Sendable, Hashable {
  /// What is to be done with the timer.
  enum Step: Sendable, Hashable {
    /// It is set; a timer that goes off hands the number back.
    case set(Duration, number: Int)
    case clear
  }

  /// How long nothing is written before a line is due; nil for never.
  let interval: Duration?
  private var isRunning = false
  /// When a line was written last.
  private var last = Duration.zero
  /// The number of the timer that is set, which tells it from one that was cleared too late.
  private var timer: Int?
  private var lastTimer = 0

  /// A heartbeat; an interval of less than a second is one of a second.
  init(interval: Duration?) { self.interval = interval.map { max($0, .seconds(1)) } }

  /// The application was in a state when a line was written, or was to be.
  mutating func note(_ state: ApplicationState, at instant: Duration) -> Step? {
    guard let interval else { return nil }
    last = max(last, instant)
    isRunning = state.isInMemory && state != .suspended
    if isRunning, timer == nil { return set(for: last + interval) }
    guard !isRunning, timer != nil else { return nil }
    timer = nil
    return .clear
  }

  /// A timer has gone off: whether a line is due, and what comes next.
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
