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

  /// The last sign of life.
  private var last: Sample
  /// How long the thread did not run when it last had work to do; zero unless that was remarkable.
  private var idleAtWork = Duration.zero

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
      suspensions.append(Application.Suspension(duration: idleAtWork + idle, uncertainty: Self.tick, by: .stopSignal))
    } else if !wasContinued, sample.runDelay != nil, idle >= Self.tick * 2 {
      suspensions.append(Application.Suspension(duration: idle, uncertainty: Self.tick, by: .frozenOrPaused))
    }
    return suspensions
  }

  /// The time in which the thread neither ran nor wanted to.
  private func idle(until sample: Sample) -> Duration {
    sample.running - last.running - ((sample.runDelay ?? .zero) - (last.runDelay ?? .zero))
  }
}
