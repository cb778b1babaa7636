import CUnixHost
import Scheduling

/// The caught signals of the process, as a descriptor to poll and records to read.
///
/// A process has only one signal pipe at a time.
///
/// A handler in C writes each signal into a pipe. `signalfd` and `sigwait` would not work: an asynchronous `main` parks
/// the first thread with an empty mask, and that thread would receive the signal with its default action.
struct SignalPipe {
  /// The descriptor to poll, which is readable when a signal has arrived.
  let descriptor: Int32
  /// Whether SIGHUP was ignored when the program was started.
  let hangUpIsIgnored: Bool
  /// The signals that the host catches.
  private let caught: [CaughtSignal]
  /// The number of SIGCONTs at the time when the pipe was last empty; their records have all been read.
  private var continuesRead: UInt32 = 0

  /// Begins to catch signals; returns nil if the system has no descriptor for them.
  ///
  /// Signals that were ignored when the program was started, for example by `nohup`, stay ignored.
  init?(catching signals: some Sequence<CaughtSignal>) {
    descriptor = unixhost_signals_open()
    guard descriptor >= 0 else { return nil }
    hangUpIsIgnored = unixhost_signal_is_ignored(CaughtSignal.hangUp.number)
    caught = signals.filter { !($0.staysIgnored && unixhost_signal_is_ignored($0.number)) }
    for signal in caught { unixhost_signal_catch(signal.number) }
    // A write to a closed pipe must fail with an error, not end the program. A handler does that; SIG_IGN would be
    // inherited by child processes.
    if !unixhost_signal_is_ignored(SIGPIPE) { unixhost_signal_discard(SIGPIPE) }
    continuesRead = unixhost_continue_count()
  }

  /// The number of SIGCONTs that have come; nil if their records have all been read.
  var unreadContinues: UInt32? {
    let arrived = unixhost_continues_arrived()
    return arrived == continuesRead ? nil : arrived
  }

  /// Removes and returns all records, oldest first; two threads may have written theirs in another order.
  mutating func drain() -> [SignalRecord] {
    var records: [SignalRecord] = []
    var raw = unixhost_signal()
    let now = Self.now
    while true {
      let continues = unixhost_continue_count()
      guard unixhost_signal_next(&raw) else {
        continuesRead = continues
        // There are few records, and in most cases they are in order.
        return records.sorted { $0.arrived < $1.arrived }
      }
      guard let signal = CaughtSignal(number: raw.number) else { continue }
      records.append(
        SignalRecord(signal: signal, isFromKernel: raw.code > 0, arrived: .nanoseconds(raw.arrived), taken: now))
    }
  }

  /// Takes back the caught signals that other code has taken.
  ///
  /// - Parameter isThorough: whether to look at the signalfds of the process, too, one of which takes a signal before the
  ///   handler now and then. If a handler was replaced, the method looks at them in any case.
  /// - Returns: the signals that other code had.
  func takeBack(isThorough: Bool) -> [SignalWatch.Finding] {
    var findings = caught.compactMap { signal in
      holder(of: signal).map { SignalWatch.Finding(signal: signal, holder: $0) }
    }
    guard isThorough || !findings.isEmpty else { return [] }
    let taken = unixhost_signalfds_reclaim(caught.reduce(0) { $0 | $1.bit })
    for signal in caught where taken & signal.bit != 0 {
      findings.append(SignalWatch.Finding(signal: signal, holder: .descriptor))
    }
    return findings
  }

  /// The caught signals that have arrived and wait for a thread of a library, where only its signalfd would have read them.
  var stuck: [CaughtSignal] {
    let stuck = unixhost_signals_stuck(caught.reduce(0) { $0 | $1.bit })
    return caught.filter { stuck & $0.bit != 0 }
  }

  private func holder(of signal: CaughtSignal) -> SignalWatch.Holder? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(UNIXHOST_NAME_LIMIT)) { name in
      switch unixhost_signal_reclaim(signal.number, name.baseAddress!) {
      case UNIXHOST_SIGNAL_OURS: return nil
      case UNIXHOST_SIGNAL_IGNORED: return .ignoringCode
      case UNIXHOST_SIGNAL_DEFAULT: return .restoringCode
      default:
        let library = String(cString: name.baseAddress!)
        return .handler(library: library.isEmpty ? nil : library)
      }
    }
  }

  /// Stops the process until a SIGCONT continues it; returns false if the kernel refused.
  ///
  /// If a SIGCONT has arrived since the last ``drain()``, the process does not stop.
  func stop(wholeGroup: Bool) -> Bool { unixhost_stop(wholeGroup, continuesRead) }

  /// The current time by the clock of the records.
  static var now: Duration { .nanoseconds(unixhost_now()) }

  /// Restores the signal dispositions that were found.
  ///
  /// - Parameter repetitionsEnd: the time until which a further order has no effect, so that the process can end by
  ///   itself; nil without an order.
  func close(repetitionsEnd: Duration?) {
    unixhost_signals_restore((repetitionsEnd ?? .zero).nanoseconds)
  }
}

extension CaughtSignal {
  /// The bit of the signal in a set of 64.
  fileprivate var bit: UInt64 { 1 << UInt64(number - 1) }
}
