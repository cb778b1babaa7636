/// Judges for how long the process has stood still: stopped by a signal, frozen, or held by a debugger.
///
/// The type is pure. In contrast to ``SuspensionDetector`` it judges at once, at each reading, because a deadline that
/// passed during a stop must not take effect before the host's thread runs again.
///
/// | evidence at a reading | verdict |
/// | --- | --- |
/// | the host's thread should have woken from its wait, and did not | the process stood still since the last reading |
/// | the thread was at work, SIGCONT has come, and there was no reading for longer than ``patience`` | the same |
/// | anything else | the process ran |
///
/// The time for which the thread waited for a processor does not count. A stop that is shorter than ``slack`` beyond
/// the wait of the thread is not noticed.
struct StandstillJudge: Sendable, Hashable {
  /// What is known at one moment.
  struct Reading: Sendable, Hashable {
    /// A clock that stands still while the machine sleeps.
    var time: Duration
    /// The number of SIGCONTs so far.
    var continues: UInt32
    /// The total time for which the host's thread has waited for a processor; nil if the system does not report it.
    var runDelay: Duration?
  }

  /// The time by which a thread may be late without having stood still.
  static let slack = Duration.milliseconds(100)
  /// The time without a reading after which a SIGCONT proves a stop.
  static let patience = SuspensionDetector.tick + slack

  /// The time for which the process has stood still.
  private(set) var lost = Duration.zero
  private var last: Reading
  /// The time at which the host's thread wakes at the latest; nil while it is at work, or after it was late.
  private var wakesBy: Duration?

  init(_ reading: Reading) { last = reading }

  /// Whether a reading with this time needs no look at the evidence.
  func isOrdinary(at time: Duration, continues: UInt32) -> Bool {
    continues == last.continues && time < (wakesBy.map { $0 + Self.slack } ?? .seconds(Int64.max))
  }

  /// Notes a reading that needed no look.
  mutating func note(_ time: Duration) { last.time = max(last.time, time) }

  /// Looks at the evidence.
  mutating func look(_ reading: Reading) {
    defer { last = reading }
    let waited = (reading.runDelay ?? .zero) - (last.runDelay ?? .zero)
    let idle = reading.time - last.time - max(.zero, waited)
    let isOverdue = reading.runDelay != nil && wakesBy.map { reading.time >= $0 + Self.slack } ?? false
    let wasContinued = reading.continues != last.continues
    guard isOverdue && idle >= Self.slack || wasContinued && idle >= Self.patience else { return }
    lost += idle
    // A thread that is late again before it has run lacks a processor.
    wakesBy = nil
  }

  /// Notes that the host's thread waits until a time.
  mutating func willWait(until time: Duration, _ reading: Reading) {
    look(reading)
    wakesBy = time
  }

  /// Notes that the host's thread is at work.
  mutating func works(_ reading: Reading) {
    look(reading)
    wakesBy = nil
  }
}
