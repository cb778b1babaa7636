internal import Scheduling

/// The code inside which the present task runs: a run of an asynchronous handler, a piece of ``AwaitedWork``, or both.
///
/// It is one task-local value. When the task waits, this code waits. A mailbox binds a new value for each event, and
/// its tasks are detached, so that no handler runs in the context of a poster. The poster's context travels with the
/// event: ``AwaitedPost/poster``.
package struct HandlerContext: Sendable {
  /// The context of the present task, even if its run and work have ended; nil in a task that neither a handler nor
  /// work started.
  @TaskLocal package static var current: HandlerContext?

  let run: HandlerRun?
  /// The piece of work; it may have ended, because tasks that it starts inherit this value and may outlive it.
  package let work: (any AwaitedWork)?

  /// The run and the work of the present task, as far as they have not ended; nil if both have ended or there is
  /// neither.
  package static var enclosing: HandlerContext? { current?.underWay }

  /// The parts of the context that have not ended; nil if both have.
  private var underWay: HandlerContext? {
    let run = run.flatMap { $0.isUnderWay ? $0 : nil }
    let work = work.flatMap { $0.isUnderWay ? $0 : nil }
    return run == nil && work == nil ? nil : HandlerContext(run: run, work: work)
  }

  /// Runs a piece of work: a wait inside `body` counts as a wait of that work and of the enclosing handler, if there is
  /// one.
  @MainActor package static func with<Result>(
    _ work: any AwaitedWork, _ body: @MainActor () async throws -> Result
  ) async rethrows -> Result {
    try await $current.withValue(HandlerContext(run: current?.run, work: work)) { try await body() }
  }

  /// Runs `body` in a context that was read elsewhere.
  @MainActor package static func with(_ context: HandlerContext?, _ body: @MainActor () async -> Void) async {
    await $current.withValue(context) { await body() }
  }

  /// Runs `body` outside any handler and any work, even if the caller is inside one; tasks that it starts inherit
  /// neither.
  @discardableResult
  package static func outside<Result>(_ body: () throws -> Result) rethrows -> Result {
    // Usually there is no context to clear.
    current == nil ? try body() : try $current.withValue(nil, operation: body)
  }

  /// Begins a wait of this code for all work of some owners.
  ///
  /// - Returns: the wait, which the caller must end with ``WaitToken/end()``. The result is nil if the wait would close
  ///   a circle, because one of the owners waits for this code, directly or along a chain of waits.
  package func beginWait(for owners: [WorkOwner]) -> WaitToken? {
    WaitGraph.begin(in: self, awaiting: owners.map { .owner($0) })
  }

  /// Returns whether the receiver's handler is the one that runs this code, or waits along the chain of waits for this
  /// code to end.
  func isChained(to receiver: any AnyMailbox) -> Bool {
    if let work, work.isUnderWay, WaitGraph.leads(from: receiver, to: work.owner) { return true }
    guard let run, run.isUnderWay else { return false }
    if run.receiver === receiver { return true }
    guard let cause = run.cause, !cause.isReported else { return false }
    return cause.poster?.isChained(to: receiver) ?? false
  }
}

extension Origin {
  /// The asynchronous handler that the present task runs in or, without one, the bound code; nil if neither is known.
  package static var current: EventBus.Subscriber? {
    HandlerContext.current?.run?.receiver.subscriber ?? bound as? EventBus.Subscriber
  }
}

/// A piece of another module's work that its owner waits for, such as a release or a body of an application.
package protocol AwaitedWork: AnyObject, Sendable {
  var owner: WorkOwner { get }
  /// Whether the work has not ended; the owner waits for it until then.
  var isUnderWay: Bool { get }
  /// Whether it is one of many runs of the same code, such as a body that runs whenever a phase opens.
  var isRun: Bool { get }
}

/// An owner that waits for pieces of work, as one node in the wait graph; an example is an application with all its
/// transitions.
///
/// It is also a piece of work itself, which never ends: the code that a transition runs itself.
package final class WorkOwner: AwaitedWork {
  package init() {}

  package var owner: WorkOwner { self }
  package var isUnderWay: Bool { true }
  package var isRun: Bool { false }
}
