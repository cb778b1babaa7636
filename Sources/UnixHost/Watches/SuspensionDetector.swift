import AppLifecycle

/// Detects afterwards that the process did not run, and the reason.
///
/// The type is pure.
///
/// | evidence | verdict |
/// | --- | --- |
/// | the clock that counts sleep gained on the one that does not | system sleep |
/// | the host's thread did not run for longer than it waits, and SIGCONT has come | stopped by a signal |
/// | as before, but without a SIGCONT, and the thread was not waiting for a processor either | frozen or paused, which cannot be distinguished |
///
/// A thread that waited for a processor was runnable, so its gap is not reported. A gap while the thread had work to do
/// is reported only if SIGCONT comes, because the thread may have waited for a slow disk or terminal.
///
/// The process may notice SIGCONT later than the gap, because the kernel may have delivered it to another thread that
/// has no processor on a busy machine. So the verdict on a gap waits for it, for ``settlingTime``.
struct SuspensionDetector: Sendable, Hashable {
  /// The readings of one moment.
  struct Sample: Sendable, Hashable {
    /// A clock that stands still while the machine sleeps.
    var running: Duration
    /// The time for which the machine has slept.
    var sleep: Duration
    /// The total time for which the host's thread has waited for a processor; nil if the system does not report it.
    var runDelay: Duration?
  }

  /// The longest interval between two signs of life of the host's thread.
  static let tick = Duration.seconds(1)
  private static let slack = Duration.milliseconds(100)
  /// The time after a gap within which its SIGCONT may be noticed.
  static let settlingTime = Duration.seconds(2)

  /// A time in which the waiting thread did not run for longer than its wait, and whose cause is not known yet.
  private struct Gap: Sendable, Hashable {
    var duration: Duration
    /// The time when the gap ended.
    var end: Duration
  }

  /// The last sign of life.
  private var last: Sample
  /// The time for which the thread did not run when it last had work to do; zero unless that was remarkable.
  private var idleAtWork = Duration.zero
  /// The gap for which a SIGCONT may still come.
  private var gap: Gap?

  init(_ sample: Sample) { last = sample }

  /// Notes a sign of life; the time before it is known or of no interest.
  mutating func showLife(_ sample: Sample) { (last, idleAtWork) = (sample, .zero) }

  /// Notes that the thread has done its work, and is about to wait.
  mutating func willWait(_ sample: Sample) {
    let idle = idle(until: sample)
    (last, idleAtWork) = (sample, Self.isRemarkable(idle) ? idle : .zero)
  }

  private static func isRemarkable(_ idle: Duration) -> Bool { idle >= tick + slack }

  /// Whether a signal may have stopped the process, so that the thread should wait for its SIGCONT.
  func suspectsStop(_ sample: Sample) -> Bool { Self.isRemarkable(idleAtWork + idle(until: sample)) }

  /// Returns the suspensions since the last sign of life.
  mutating func look(_ sample: Sample, wasContinued: Bool) -> [Suspension] {
    defer { showLife(sample) }
    var suspensions: [Suspension] = []
    let slept = sample.sleep - last.sleep
    if slept >= Self.slack {
      suspensions.append(Suspension(duration: slept, agent: .systemSleep))
    }
    let idle = idle(until: sample)
    if wasContinued, Self.isRemarkable(idleAtWork + idle) {
      suspensions += endWait() + [Self.stop(idleAtWork + idle)]
    } else if wasContinued, let gap = gap.take() {
      suspensions.append(Self.stop(gap.duration))
    } else if sample.runDelay != nil, idle >= Self.tick * 2 {
      suspensions += endWait()
      gap = Gap(duration: idle, end: sample.running)
    } else if let gap, sample.running - gap.end >= Self.settlingTime {
      suspensions += endWait()
    }
    return suspensions
  }

  private static func stop(_ duration: Duration) -> Suspension {
    Suspension(duration: duration, agent: .stopSignal)
  }

  /// Returns the verdict on a gap for which no SIGCONT has come.
  private mutating func endWait() -> [Suspension] {
    guard let ended = gap.take() else { return [] }
    return [Suspension(duration: ended.duration, agent: .frozenOrPaused)]
  }

  /// Returns the time in which the thread neither ran nor was runnable.
  private func idle(until sample: Sample) -> Duration {
    sample.running - last.running - ((sample.runDelay ?? .zero) - (last.runDelay ?? .zero))
  }
}

/// A time in which the process did not run.
struct Suspension: Sendable, Hashable {
  /// An upper bound of the time, at most ``SuspensionDetector/tick`` too long.
  var duration: Duration
  var agent: Application.WasSuspended.Agent
}
