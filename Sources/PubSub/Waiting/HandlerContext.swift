internal import Scheduling

/// The code inside which the present task runs: a run of an asynchronous handler, a piece of ``AwaitedWork``, or both.
///
/// When the task waits, this code waits. A mailbox binds a new value for each event, and its tasks are detached, so
/// that no handler runs in the context of a poster; the ``WaitGraph`` knows which poster waits for it.
package struct HandlerContext: Sendable {
  /// The context of the present task, also after its run and its work have ended.
  @TaskLocal package static var current: HandlerContext?

  let run: HandlerRun?
  /// The piece of work, which may have ended: tasks that it starts inherit this value.
  package let work: (any AwaitedWork)?

  /// The run and the work of the present task, as far as they have not ended; nil if there is neither.
  package static var enclosing: HandlerContext? {
    guard let current else { return nil }
    let run = current.run.flatMap { $0.isUnderWay ? $0 : nil }
    let work = current.work.flatMap { $0.isUnderWay ? $0 : nil }
    return run == nil && work == nil ? nil : HandlerContext(run: run, work: work)
  }

  /// The context of a piece of work: a wait inside it is a wait of that work and of the present run, if there is one.
  ///
  /// The run may have ended; every reader looks.
  package static func within(_ work: any AwaitedWork) -> HandlerContext {
    HandlerContext(run: current?.run, work: work)
  }

  /// Runs a piece of work in its context.
  @MainActor package static func with<Result>(
    _ work: any AwaitedWork, _ body: @MainActor () async throws -> Result
  ) async rethrows -> Result {
    try await $current.withValue(within(work)) { try await body() }
  }

  /// Runs `body` in a context that was read elsewhere.
  @MainActor package static func with(_ context: HandlerContext?, _ body: @MainActor () async -> Void) async {
    await $current.withValue(context) { await body() }
  }

  /// Runs `body`, and tasks that it starts, outside any handler and any work.
  @discardableResult
  package static func outside<Result>(_ body: () throws -> Result) rethrows -> Result {
    // Usually there is no context to clear.
    current == nil ? try body() : try $current.withValue(nil, operation: body)
  }

  /// Begins a wait of this code for all work of some scopes, which the caller must end; nil if it would close a circle:
  /// one of the scopes waits for this code, directly or along a chain of waits.
  package func beginWait(for scopes: [WorkScope]) -> WaitToken? {
    WaitGraph.beginUnlessCircular(in: self, awaiting: scopes)
  }
}

extension Origin {
  /// The asynchronous handler that the present task runs in; without one, what a simulation has bound (``Origin/bound``).
  package static var current: EventBus.Subscriber? {
    HandlerContext.current?.run?.mailbox.subscriber ?? bound as? EventBus.Subscriber
  }
}

/// A piece of another module's work that its scope waits for, such as a release or a body of an application.
package protocol AwaitedWork: AnyObject, Sendable {
  var scope: WorkScope { get }
  /// Whether the work has not ended; the scope waits for it until then. Must take no lock: the bus reads it under its own.
  var isUnderWay: Bool { get }
  /// Whether it is one of many runs of the same code, such as a body that runs whenever a phase opens.
  var isRepeated: Bool { get }
}
