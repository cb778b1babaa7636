internal import PubSub

/// A call of the program's code that has begun: a delegate method, a handler, an operation of a resource, a task, or an
/// observer.
public struct TracedCall: Sendable, Hashable, Identifiable {
  /// The number of the call among those of the application that are observed or intercepted, from 1; 0 for the call of
  /// an observer.
  public let id: UInt64
  /// Whether the code occupies the main actor until it returns, as a delegate method and a synchronous handler do.
  public let isSynchronous: Bool
  /// Whether the call may last as long as the program: a run loop, a body, a task or a background task.
  public let isLongRunning: Bool
  /// The number of the transition that makes the call, or that decided on it; nil if no transition did, and if the
  /// application has no interceptors.
  public let transition: TracedTransition.ID?
  /// The ledger entry of a call that would end at once.
  private let entry: LedgerEntry

  /// Creates the call of an entry.
  package init(
    _ entry: LedgerEntry, id: UInt64, isSynchronous: Bool, isLongRunning: Bool = false,
    in transition: TracedTransition.ID? = nil
  ) {
    (self.entry, self.id, self.isSynchronous) = (entry, id, isSynchronous)
    (self.isLongRunning, self.transition) = (isLongRunning, transition)
  }

  /// The kind of code that is called.
  public var kind: LedgerEntry.Kind { entry.kind }
  /// The label or name of the code, or, if it has none, its position in the source: `Module/File.swift:12`.
  public var name: String { entry.name }
  /// The position in the source, `Module/File.swift:12`; nil if it is not known.
  public var source: String? { entry.source }
  /// The purpose of the call: a delegate method, `acquire`, `release`, or another step for other kinds of code.
  public var step: String { entry.step }
  /// The time when the call began, by the application's clock, counted from the creation of the application.
  public var began: Duration { entry.began }
}
