// Who wants to know all that happens: any number of observers, beside the one recorder that a program may set.

extension Application {
  /// Tells an observer everything that happens from now on, in order and as it happens, for as long as the application lives.
  ///
  /// An observer is told what ``recorder`` is told, after it and before anybody else; and, what a recorder is not told, each
  /// input before all that it causes, and each input that had no effect, with the reason. A run can be replayed from that. A
  /// ``SystemInput/purge`` is no input of the record: it follows from what the application did.
  ///
  /// - Parameter observer: is called on the main actor, in the middle of a transition.
  package func observeRecords(_ observer: @escaping @MainActor (LifecycleRecord) -> Void) {
    recordObservers.append(observer)
  }

  /// Tells an observer each entry of the ledger as it is made, for as long as the application lives.
  ///
  /// An entry is made when what it is about has ended, or is no longer waited for.
  ///
  /// - Parameter observer: is called on the main actor, in the middle of a transition or between two.
  package func observeEntries(_ observer: @escaping @MainActor (LedgerEntry) -> Void) {
    entryObservers.append(observer)
  }

  /// The time of the application's clock, as records have it.
  package var instant: Duration { timing.now() }

  /// An input is its own cause; what follows from it has the cause that its sender gave it.
  func noteInput(_ input: SystemInput) {
    guard !recordObservers.isEmpty, input != .purge else { return }
    let name = LifecycleCause(input)
    tellObservers(.input, name, cause: name)
  }

  func noteOutcome(_ report: TransitionReport, of input: SystemInput) {
    guard case .ignored(let reason) = report.outcome, !recordObservers.isEmpty, input != .purge else { return }
    tellObservers(.ignored, LifecycleCause(input), cause: report.cause, reason: reason.rawValue)
  }

  private func tellObservers(
    _ kind: LifecycleRecord.Kind, _ name: LifecycleCause, cause: LifecycleCause, reason: String? = nil
  ) {
    let new = LifecycleRecord(
      instant: timing.now(), kind: kind, name: name.rawValue, state: state, cause: cause, reason: reason)
    for observer in recordObservers { observer(new) }
  }
}
