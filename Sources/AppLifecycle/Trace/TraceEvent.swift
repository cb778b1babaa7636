/// An event in an application, as ``Application/observe(label:fileID:line:_:)`` reports it.
///
/// Later versions may add cases, so write a `default` in a `switch` over trace events.
public enum TraceEvent: Sendable, Hashable {
  /// The application begins to handle an input; nil if a simulated device does what no host can send, such as a crash.
  ///
  /// The delegate calls, notifications and changes of state that follow from the input come before its
  /// ``transitionEnded(_:)``. Acquires, and handlers, bodies and releases for which the transition does not wait, may
  /// end later. For an input without effect only records come in between. For a `terminate`, this event comes after the
  /// delegate has answered whether the application may end. A `terminate` that the delegate refuses causes neither this
  /// event nor ``transitionEnded(_:)``, only ``terminationRefused``.
  case transitionBegan(SystemInput?, cause: LifecycleCause)
  /// The budget of a tear-down begins to run; the delegate call, the handlers, the bodies and the resources share it.
  case budgetBegan(ApplicationCallback, Duration)
  /// The application recorded a step of the life cycle: an input, a state, a delegate call, a notification, a
  /// background task, a report, or an input without effect.
  case recorded(LifecycleRecord)
  /// The application calls code of the program.
  case callBegan(TracedCall)
  /// The code has returned, or the application no longer waits for it.
  ///
  /// The entry is in the ledger, unless the code was not called in the end, or its answer no longer counts
  /// (`cutShort`). The identifier is that of ``callBegan(_:)``. It is nil if no code was called, as for the use of a
  /// resource after its release, or if the call had begun before the application was observed. The calls of
  /// resources and bodies that still run when the process ends, in whatever way, may have no such event. The record of
  /// the state *not running* ends them; late code can still send the event after it.
  case callEnded(LedgerEntry, of: TracedCall.ID?)
  /// Code overran a budget.
  case overran(BudgetOverrun)
  /// The delegate was asked whether the application may end, and has not answered yet.
  case terminationAsked
  /// The delegate has refused to let the application end.
  case terminationRefused
  /// The transition has ended, or the input had no effect; not sent for a `terminate` that the delegate refuses.
  case transitionEnded(TransitionReport)

  /// The record of a ``recorded(_:)`` event; nil for other events.
  public var record: LifecycleRecord? { if case .recorded(let record) = self { record } else { nil } }
}
