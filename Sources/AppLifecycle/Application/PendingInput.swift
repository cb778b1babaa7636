internal import PubSub
internal import Scheduling

/// An input that has not been handled yet, with its sender.
struct PendingInput: Sendable {
  let input: LifecycleInput
  let cause: LifecycleCause
  /// The answer for a sender that waits, or may begin to wait later.
  var answer: InputAnswer?
  /// The wait of the handler that sent the input; nil if no handler sent it.
  var wait: WaitToken?
  /// The number of revocations when the suspension began whose last input this is; nil for any other input.
  var suspension: Int?
  /// Whether a suspended application is woken first.
  var wakesFirst = false
  /// Whether it is an end as by a host, which waits for background tasks also in a simulated system.
  var isByHost = false
  /// The answered question that this end follows; this end answers the senders of all inputs of the question.
  var question: TerminationQuestion?

  /// Answers the sender.
  ///
  /// The wait ends here, not when the sender resumes: another transition may begin before that.
  func answer(_ report: TransitionReport) {
    wait?.end()
    answer?.give(report)
  }
}

/// The report of a queued input, for one task that waits for it.
final class InputAnswer: Sendable {
  private enum State: Sendable {
    case open
    case awaited(UnsafeContinuation<TransitionReport, Never>)
    case given(TransitionReport)
  }

  private let state = Guarded(State.open)

  /// Waits for the report.
  var report: TransitionReport {
    get async {
      await withUnsafeContinuation { waiter in
        let given: TransitionReport? = state.withLock { state in
          if case .given(let report) = state { return report }
          state = .awaited(waiter)
          return nil
        }
        if let given { waiter.resume(returning: given) }
      }
    }
  }

  /// Gives the report.
  func give(_ report: TransitionReport) {
    let waiter: UnsafeContinuation<TransitionReport, Never>? = state.withLock { state in
      defer { state = .given(report) }
      if case .awaited(let waiter) = state { return waiter }
      return nil
    }
    waiter?.resume(returning: report)
  }
}
