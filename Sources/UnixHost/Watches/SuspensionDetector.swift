import AppLifecycle

/// Tells afterwards that the process did not run, and by what.
///
/// Pure.
///
/// | evidence | verdict |
/// | --- | --- |
/// | the clock that counts sleep gained on the one that does not | system sleep |
/// | the host's thread did not run for longer than it waits, and SIGCONT has come | stopped by a signal |
/// | the same without a SIGCONT, and the thread was not waiting for a processor either | frozen or paused, no finer |
///
/// A thread that waited for a processor was runnable, and nothing is said of it. Nor of one that did not run while it had work
/// to do, unless SIGCONT comes: it may have waited for a slow disk or terminal.
///
/// SIGCONT may be seen later than the gap: the kernel may have given it to another thread, one that a busy machine keeps from
/// running. So the verdict on a gap waits for it, ``settlingTime`` long.
struct SuspensionDetector: Sendable, Hashable {
  /// What matters of a moment.
  struct Sample: Sendable, Hashable {
    /// A clock that stands still while the machine sleeps.
    var running: Duration
    /// How long the machine has slept.
    var sleep: Duration
    /// How long the host's thread has waited for a processor in its life; nil where the system does not tell.
    var runDelay: Duration?
  }

  /// The host's thread shows itself at least so often.
  static let tick = Duration.seconds(1)
  private static let slack = Duration.milliseconds(100)
  /// How long after a gap its SIGCONT may be seen.
  static let settlingTime = Duration.seconds(2)

  /// A time in which the thread, which waited, did not run for longer than it waits; its cause is not known yet.
  private struct Gap: Sendable, Hashable {
    var duration: Duration
    /// When it was over.
    var end: Duration
  }

  /// The last sign of life.
  private var last: Sample
  /// How long the thread did not run when it last had work to do; zero unless that was remarkable.
  private var idleAtWork = Duration.zero
  /// The gap that waits for its SIGCONT.
  private var gap: Gap?

  init(_ sample: Sample) { last = sample }

  /// The thread lives, and what was before is known or of no interest.
  mutating func showLife(_ sample: Sample) { (last, idleAtWork) = (sample, .zero) }

  /// The thread has done its work, and is about to wait.
  mutating func willWait(_ sample: Sample) {
    let idle = idle(until: sample)
    (last, idleAtWork) = (sample, Self.isRemarkable(idle) ? idle : .zero)
  }

  private static func isRemarkable(_ idle: Duration) -> Bool { idle >= tick + slack }

  /// Whether a signal may have stopped the process: then its SIGCONT is worth waiting for.
  func suspectsStop(_ sample: Sample) -> Bool { Self.isRemarkable(idleAtWork + idle(until: sample)) }

  /// What has happened since the last sign of life.
  mutating func look(_ sample: Sample, wasContinued: Bool) -> [Application.Suspension] {
    defer { showLife(sample) }
    var suspensions: [Application.Suspension] = []
    let slept = sample.sleep - last.sleep
    if slept >= Self.slack {
      suspensions.append(Application.Suspension(duration: slept, uncertainty: .zero, by: .systemSleep))
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

  private static func stop(_ duration: Duration) -> Application.Suspension {
    Application.Suspension(duration: duration, uncertainty: tick, by: .stopSignal)
  }

  /// The verdict on a gap whose SIGCONT has not come.
  private mutating func endWait() -> [Application.Suspension] {
    guard let ended = gap.take() else { return [] }
    return [Application.Suspension(duration: ended.duration, uncertainty: Self.tick, by: .frozenOrPaused)]
  }

  /// The time in which the thread neither ran nor wanted to.
  private func idle(until sample: Sample) -> Duration {
    sample.running - last.running - ((sample.runDelay ?? .zero) - (last.runDelay ?? .zero))
  }
}
