import CUnixHost

/// The signals that the process has caught, as a descriptor to poll and records to read.
///
/// One at a time in a process.
///
/// A handler in C writes each signal into a pipe. Neither `signalfd` nor `sigwait` would do: an asynchronous `main` parks the
/// first thread with an empty mask, and that thread would take the signal with its default action.
struct SignalPipe {
  /// Readable when a signal has arrived.
  let descriptor: Int32
  /// SIGHUP was ignored when the program was started.
  let hangUpIsIgnored: Bool
  /// SIGCONTs counted before the pipe was last seen empty: all of them have been read.
  private var continuesRead: UInt32 = 0

  /// Begins to catch signals; nil if the system has no descriptor for them.
  ///
  /// Those that were ignored when the program was started, as by `nohup`, stay ignored.
  init?(catching signals: some Sequence<CaughtSignal>) {
    descriptor = unixhost_signals_open()
    guard descriptor >= 0 else { return nil }
    hangUpIsIgnored = unixhost_signal_is_ignored(CaughtSignal.hangUp.number)
    for signal in signals {
      if signal.staysIgnored, unixhost_signal_is_ignored(signal.number) { continue }
      unixhost_signal_catch(signal.number)
    }
    // A write to a closed pipe is an error to handle, not the program's end; ignoring it would be inherited by children.
    if !unixhost_signal_is_ignored(SIGPIPE) { unixhost_signal_discard(SIGPIPE) }
    continuesRead = unixhost_continue_count()
  }

  /// Takes all records that have arrived, oldest first: two threads may write theirs in another order.
  mutating func drain() -> [SignalRecord] {
    var records: [SignalRecord] = []
    var raw = unixhost_signal()
    let now = Self.now
    while true {
      let continues = unixhost_continue_count()
      guard unixhost_signal_next(&raw) else {
        continuesRead = continues
        // Few as a rule, and nearly always in order.
        return records.sorted { $0.arrived < $1.arrived }
      }
      guard let signal = CaughtSignal(number: raw.number) else { continue }
      records.append(
        SignalRecord(signal: signal, isFromKernel: raw.code > 0, arrived: .nanoseconds(raw.arrived), taken: now))
    }
  }

  /// Stops the process until a SIGCONT continues it; false if the kernel refused.
  ///
  /// A SIGCONT that has come since the last ``drain()`` takes the stop back.
  func stop(wholeGroup: Bool) -> Bool { unixhost_stop(wholeGroup, continuesRead) }

  /// The time, on the clock of the records.
  static var now: Duration { .nanoseconds(unixhost_now()) }

  /// Restores the dispositions that were found.
  ///
  /// For ``EndOrders/copyWindow`` after the order its copies do nothing, until the process has ended by itself.
  ///
  /// - Parameter orderTaken: when the order that ended the program was taken up; nil if there was none.
  func close(orderTaken: Duration?) {
    let copiesEnd = orderTaken.map { $0 + EndOrders.copyWindow } ?? .zero
    unixhost_signals_restore(
      copiesEnd.components.seconds * 1_000_000_000 + copiesEnd.components.attoseconds / 1_000_000_000)
  }
}
