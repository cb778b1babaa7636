/// The code that waits while the present task waits: the run of an asynchronous handler, a piece of ``AwaitedWork``, or both.
///
/// Bound as one task-local value. A mailbox binds it anew for each event, and starts its tasks detached, so that no handler
/// runs in the context of a poster. What waits travels with the event instead: ``AwaitedPost/poster``.
package struct HandlerContext: Sendable {
  @TaskLocal static var current: HandlerContext?

  let run: HandlerRun?
  /// The piece of work, which may be over: tasks that it starts inherit it and may outlive it.
  package let work: (any AwaitedWork)?

  /// What is bound in the present task, over or not; nil in a task that no handler and no work led to.
  package static var bound: HandlerContext? { current }

  /// The run and the work inside which the present task runs and which have not ended; nil if there is neither.
  package static var enclosing: HandlerContext? { current?.underWay }

  /// The part that has not ended.
  private var underWay: HandlerContext? {
    let run = run.flatMap { $0.isUnderWay ? $0 : nil }
    let work = work.flatMap { $0.isUnderWay ? $0 : nil }
    return run == nil && work == nil ? nil : HandlerContext(run: run, work: work)
  }

  /// Does a piece of work; a wait inside it is a wait of that work, and of the handler that does it, if one does.
  @MainActor package static func with<Result>(
    _ work: any AwaitedWork, _ body: @MainActor () async throws -> Result
  ) async rethrows -> Result {
    try await $current.withValue(HandlerContext(run: current?.run, work: work)) { try await body() }
  }

  /// Does something that belongs to no handler and to no work, whatever leads to it: tasks that it starts inherit neither.
  @discardableResult
  package static func outside<Result>(_ body: () throws -> Result) rethrows -> Result {
    // Nothing to clear is nearly always the case.
    current == nil ? try body() : try $current.withValue(nil, operation: body)
  }

  /// Begins a wait of this code for all work of some owners.
  ///
  /// - Returns: the wait, to be ended with ``WaitToken/end()``; nil if the wait would close a circle, as one of the owners waits
  ///   for this code, directly or along a chain of waits.
  package func beginWait(for owners: [WorkOwner]) -> WaitToken? {
    WaitGraph.begin(in: self, awaiting: owners.map { .owner($0) })
  }

  /// Whether the receiver's handler is this code's, or one that waits, along the chain, for this code to end.
  func isChained(to receiver: any AsynchronousReceiver) -> Bool {
    if let work, work.isUnderWay, WaitGraph.leads(from: receiver, to: work.owner) { return true }
    guard let run, run.isUnderWay else { return false }
    if run.receiver === receiver { return true }
    guard let cause = run.cause, !cause.isOver else { return false }
    return cause.poster?.isChained(to: receiver) ?? false
  }
}

/// A piece of another module's work that its owner waits for, such as a release or a body of an application.
package protocol AwaitedWork: AnyObject, Sendable {
  var owner: WorkOwner { get }
  /// Whether it has not ended; its owner waits for it until then.
  var isUnderWay: Bool { get }
}

/// What waits for pieces of work, as one node in the graph of waits: all transitions of an application, for instance.
///
/// It stands for work of its own, too, which never ends: what a transition does itself.
package final class WorkOwner: AwaitedWork {
  package init() {}

  package var owner: WorkOwner { self }
  package var isUnderWay: Bool { true }
}
