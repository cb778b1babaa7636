/// Something that happens in an application, as ``Application/observe(label:fileID:line:_:)`` reports it.
///
/// More cases may come: a `switch` over trace events has a `default`.
public enum TraceEvent: Sendable, Hashable {
  /// The application takes an input of the system. All that the input leads to follows.
  ///
  /// An input that has no effect is followed by its ``transitionEnded(_:)`` at once.
  case transitionBegan(SystemInput, cause: LifecycleCause)
  /// The budget of a tear-down begins to run: the time that the delegate, the handlers and the resources have together.
  case budgetBegan(ApplicationCallback, Duration)
  /// A record of the life cycle: an input, a state, a delegate call, a notification, a background task, a report, or an input that
  /// had no effect.
  case recorded(LifecycleRecord)
  /// The application calls code of the program.
  case callBegan(TracedCall)
  /// The code has returned, or the application no longer waits for it; the entry is in the ledger.
  ///
  /// The identifier is that of ``callBegan(_:)``. It is nil for an entry that is no call, such as the use of a resource after its
  /// release, and for a call that had begun before the application was observed.
  case callEnded(LedgerEntry, of: TracedCall.ID?)
  /// A budget was overrun.
  case overran(BudgetOverrun)
  /// The delegate was asked whether the application may end, and has not answered yet.
  case terminationAsked
  /// The delegate has answered that the application goes on.
  case terminationRefused
  /// The transition has ended, or the input had no effect.
  case transitionEnded(TransitionReport)

  /// The record, if the event is one.
  public var record: LifecycleRecord? { if case .recorded(let record) = self { record } else { nil } }
}
