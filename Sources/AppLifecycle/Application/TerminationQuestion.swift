internal import PubSub
internal import Scheduling

/// The question whether the application may end, from the delegate's call until the end begins or is refused.
@MainActor final class TerminationQuestion {
  /// The question whose delegate call runs in this task, or started it; nil if there is none.
  @TaskLocal static var current: TerminationQuestion?

  /// The cause of the question.
  let cause: LifecycleCause
  /// The time when the delegate was called.
  let began: Duration
  /// The time after which the delegate's answer is late.
  var deadline: Duration
  /// The delegate's remaining time when the application was suspended; nil while the application runs.
  var timeLeft: Duration?
  /// The inputs that wait for the answer, in order of arrival.
  var inputs: [PendingInput]
  /// The delegate's answer, or `.now` once the answer is late; nil before that.
  var answer: TerminateReply?
  /// The ledger's entry for the delegate's call; nil until the question is answered.
  var entry: LedgerEntry?
  /// The number of the call for observers; nil if there were none.
  let call: TracedCall.ID?
  /// The delegate's call as work for which the senders of ``inputs`` wait.
  let run: AwaitedRun
  /// Whether the question is set aside, so that other inputs run until the delegate answers.
  var isPutAside = false
  var task: Task<Void, Never>?
  var timer: Deadlines.ID?

  init(_ input: PendingInput, of scope: WorkScope, began: Duration, deadline: Duration, call: TracedCall.ID?) {
    (cause, inputs) = (input.cause, [input])
    run = AwaitedRun(of: scope, generation: 0)
    (self.began, self.deadline, self.call) = (began, deadline, call)
  }

  var isLate: Bool { entry?.outcome == .overran }
}
