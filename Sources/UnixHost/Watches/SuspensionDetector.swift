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
/// A thread that waited for a processor was runnable, and nothing is said of it.
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

  init(_ sample: Sample) { last = sample }

  /// The thread lives, and is about to wait.
  mutating func showLife(_ sample: Sample) { last = sample }

  /// Whether a signal may have stopped the process: then its SIGCONT is worth waiting for.
  func suspectsStop(_ sample: Sample) -> Bool { idle(until: sample) >= Self.tick + Self.slack }

  /// What has happened since the last sign of life.
  mutating func look(_ sample: Sample, wasContinued: Bool) -> [Application.Suspension] {
    defer { last = sample }
    var suspensions: [Application.Suspension] = []
    let slept = sample.sleep - last.sleep
    if slept >= Self.slack {
      suspensions.append(Application.Suspension(duration: slept, uncertainty: .zero, by: .systemSleep))
    }
    let idle = idle(until: sample)
    if wasContinued, idle >= Self.tick + Self.slack {
      suspensions.append(Application.Suspension(duration: idle, uncertainty: Self.tick, by: .stopSignal))
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
