/// Judges for how long the process has stood still: stopped by a signal, frozen, or held by a debugger.
///
/// The type is pure. In contrast to ``SuspensionDetector`` it judges at once, at each reading, because a deadline that
/// passed during a stop must not take effect before the host's thread runs again.
///
/// | evidence at a reading | verdict |
/// | --- | --- |
/// | the host's thread should have woken from its wait, and did not, although it did not wait for a processor | the process stood still since the last reading |
/// | the thread was at work, SIGCONT has come, and there was no reading for longer than ``patience`` | the same |
/// | the same, but SIGCONT is seen by a reading up to ``slack`` later: its handler had not begun | the same |
/// | anything else | the process ran |
///
/// The time for which the thread waited for a processor does not count. The system reports that time only when the
/// thread has got a processor: a verdict of another thread is corrected then. A stop that is shorter than ``slack``
/// beyond the wait of the thread is not noticed.
struct StandstillJudge: Sendable, Hashable {
  /// What is known at one moment.
  struct Reading: Sendable, Hashable {
    /// A clock that stands still while the machine sleeps.
    var time: Duration
    /// The number of SIGCONTs so far, also of one that waits for its handler.
    var continues: UInt32
    /// The total time for which the host's thread has waited for a processor; nil if the system does not report it.
    var runDelay: Duration?
  }

  /// The time by which a thread may be late without having stood still.
  static let slack = Duration.milliseconds(100)
  /// The time without a reading after which a SIGCONT proves a stop.
  static let patience = SuspensionDetector.tick + slack

  /// The first verdict while the thread waited, which its wait for a processor may disprove.
  private struct Verdict: Sendable, Hashable {
    var idle: Duration
    /// The time by which the thread was late.
    var delay: Duration
    var reading: Reading
  }

  /// The time for which the process has stood still, as far as it has been counted; it never shrinks, so a correction
  /// takes effect at the next stop.
  private(set) var lost = Duration.zero
  /// The same time, corrected.
  private var stood = Duration.zero
  private var verdict: Verdict?
  private var last: Reading
  /// A time without a reading for which there was no evidence, and its end; its SIGCONT may be on the way to the handler.
  private var gap: Gap?

  private struct Gap: Sendable, Hashable { var length, end: Duration }
  /// The time at which the host's thread wakes at the latest; nil while it is at work, or after it was late.
  private var wakesBy: Duration?

  init(_ reading: Reading) { last = reading }

  /// Whether a reading with this time needs no look at the evidence: neither has a SIGCONT been handled, nor is there a
  /// wait that is over, nor was there such a long time without a reading that a SIGCONT may still wait for its handler.
  func isOrdinary(at time: Duration, continues: UInt32) -> Bool {
    continues == last.continues && time < (wakesBy.map { $0 + Self.slack } ?? last.time + Self.patience)
  }

  /// Notes a reading that needed no look.
  mutating func note(_ time: Duration) { last.time = max(last.time, time) }

  /// Looks at the evidence.
  mutating func look(_ reading: Reading) {
    defer { last = reading }
    let waited = reading.waited(since: last)
    var idle = reading.time - last.time - waited
    let delay = reading.runDelay == nil ? .zero : wakesBy.map { reading.time - $0 - waited } ?? .zero
    let wasContinued = reading.continues != last.continues
    if wasContinued, let gap, reading.time - gap.end < Self.slack { idle += gap.length }
    gap = !wasContinued && idle >= Self.patience ? Gap(length: idle, end: reading.time) : nil
    guard delay >= Self.slack && idle >= Self.slack || wasContinued && idle >= Self.patience else { return }
    gap = nil
    stood += idle
    lost = max(lost, stood)
    // A thread that is late again before it has run lacks a processor.
    wakesBy = nil
    if !wasContinued { verdict = Verdict(idle: idle, delay: delay, reading: reading) }
  }

  /// Corrects a verdict, because the thread runs, and its wait for a processor is known.
  private mutating func correct(_ reading: Reading) {
    guard let verdict = verdict.take() else { return }
    // The wait ended just now; its part after the verdict does not matter.
    let waited = reading.waited(since: verdict.reading) - (reading.time - verdict.reading.time)
    guard waited > .zero else { return }
    stood -= verdict.delay - waited < Self.slack ? verdict.idle : min(verdict.idle, waited)
  }

  /// Notes that the host's thread waits until a time.
  mutating func willWait(until time: Duration, _ reading: Reading) {
    look(reading)
    wakesBy = time
  }

  /// Notes that the host's thread is at work.
  mutating func works(_ reading: Reading) {
    look(reading)
    correct(reading)
    wakesBy = nil
  }
}

extension StandstillJudge.Reading {
  /// The time for which the host's thread has waited for a processor since an earlier reading.
  fileprivate func waited(since earlier: Self) -> Duration {
    max(.zero, (runDelay ?? .zero) - (earlier.runDelay ?? .zero))
  }
}
