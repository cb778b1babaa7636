/// The purpose of a call of the program's code that is neither a delegate method nor a handler.
///
/// The raw value is the word in the ledger, in the `entry` lines of a journal, and in the name of a failure.
package enum CallStep: String, Sendable, Hashable, CaseIterable {
  case acquire, release, run, check, invalidate, use
  case whileRunning = "run(while: .running)"
  case whileForeground = "run(while: .foreground)"
  case whileActive = "run(while: .active)"
  case task, every, backgroundTask, observe, savedState

  /// The step of a body.
  static func body(while phase: LifecyclePhase) -> CallStep {
    switch phase {
    case .running: .whileRunning
    case .foreground: .whileForeground
    case .active: .whileActive
    }
  }
}

extension LedgerEntry {
  /// The purpose of the call; nil for a delegate method, a handler, and a word of a newer version.
  package var callStep: CallStep? {
    switch kind {
    case .delegate, .subscriber: nil
    case .resource, .runBody, .task, .observer: CallStep(rawValue: step)
    }
  }
}
