internal import PubSub

/// The question whether the application may end, from the delegate's call until the end begins or is refused.
@MainActor final class TerminationQuestion {
  /// The question inside which the present task runs, or which started it.
  @TaskLocal static var current: TerminationQuestion?

  /// What led to the question.
  let cause: LifecycleCause
  /// When the delegate was called.
  let began: Duration
  /// When its answer is late.
  var deadline: Duration
  /// What was left of its time when the application was suspended; nil while it runs.
  var timeLeft: Duration?
  /// The inputs that wait for the answer, in order of arrival.
  var inputs: [PendingInput]
  /// The delegate's answer, or the one that its silence gave.
  var answer: TerminateReply?
  /// The call of the delegate, as the ledger has it once it is over.
  var entry: LedgerEntry?
  /// The call's number for observers.
  let call: TracedCall.ID?
  /// The delegate's call as work for which the senders of ``inputs`` wait.
  let run: AwaitedRun
  /// Whether other inputs run while the delegate takes its time.
  var isPutAside = false
  var task: Task<Void, Never>?
  var timer: Deadlines.ID?

  init(_ input: PendingInput, of owner: WorkOwner, began: Duration, deadline: Duration, call: TracedCall.ID?) {
    (cause, inputs) = (input.cause, [input])
    run = AwaitedRun(of: owner, generation: 0)
    (self.began, self.deadline, self.call) = (began, deadline, call)
  }

  var isLate: Bool { entry?.outcome == .overran }
}
