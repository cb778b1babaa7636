internal import PubSub
internal import Scheduling

/// An input that has not been handled yet, with its sender.
struct PendingInput: Sendable {
  let input: LifecycleInput
  let cause: LifecycleCause
  /// The answer for a sender that waits, or may begin to wait later.
  var answer: OneShot<TransitionReport>?
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
    answer?.settle(report)
  }
}
