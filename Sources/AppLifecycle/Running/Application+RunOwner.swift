internal import PubSub

extension Application {
  /// Runs a body for an owner while a phase of the life cycle holds and every resource that it depends on is held.
  ///
  ///     func applicationDidFinishLaunching(_ application: Application) {
  ///       application.run(self, while: .active, after: connection) { model, connection in
  ///         for try await line in connection.lines { model.show(line) }
  ///       }
  ///     }
  ///
  /// The body begins when the phase is open and all dependencies are held; a body that has not begun when the phase
  /// closes does not begin, unless it is owed its run (see below). When a condition no longer holds, the application cancels the body and waits for its end.
  /// Only then does it release the resources on which the body depends; at the end of a phase, all resources of the
  /// phase. It no longer waits for a body that exceeds the budget. A body that uses ``withPhaseClosingHandler(operation:onClose:isolation:)`` is
  /// asked to end before it is cancelled. The next run begins after the last one has ended.
  ///
  /// The body may run many times, so it must iterate a sequence that can be iterated again. A kept sequence of the bus
  /// gives each run, also the first one, the events since its own loop began. An `AsyncStream` works
  /// only if it is made anew for each run, because it ends for good when a run is cancelled.
  ///
  /// The application holds the owner weakly between two runs. A running body keeps it alive. After the owner has been
  /// released, the body does not begin again. If you call this method while the phase is open or before the launch is complete,
  /// the application keeps the owner until the first run begins or the phase closes: an object made for its run, such as
  /// one client of a server, lives as long as that. If you call this method with `.running` while that phase closes, or it closes before
  /// a body that can begin has begun, the body has its run: once, asked to end from the beginning, and cancelled if it does not listen.
  /// Any other body that has not begun has such a run if nothing but the run holds the owner.
  ///
  /// You may call it at any time and any number of times, also with the same label. When the owner has been released,
  /// the application keeps the closure, and what it captures, until the body would begin next, such as at the next
  /// opening of the phase. So capture nothing, and use the owner that is passed. A body that needs the application
  /// captures it weakly: a test may release the application while the body still ends.
  ///
  /// - Parameters:
  ///   - owner: the object that is passed to the body.
  ///   - phase: the phase during which the body runs.
  ///   - dependency: the resources that the body needs; the handle of each is passed to the body.
  ///   - retry: the policy for further runs after a failure; ``Configuration/retry`` if nil. Its maximum does not apply
  ///     to a body.
  ///   - readiness: what makes the body ready; ``Readiness/checked`` counts as ``Readiness/atOnce``.
  ///   - onReturn: the reaction when the body returns without having been asked to end.
  ///   - onError: the reaction when the body throws without having been asked to end. A body whose owner nothing else
  ///     holds is not repeated: its owner is released after the run.
  ///   - label: the body's name in reports; its source position if nil.
  ///   - fileID: the module and file of the call.
  ///   - line: the line of the call.
  ///   - body: the code to run, on the main actor.
  /// - Returns: an object with which to cancel the body for good; you may discard it.
  /// - Precondition: this application manages every dependency, or managed it in an earlier process of a simulation.
  @discardableResult
  public func run<Owner: AnyObject, each Dependency: Sendable>(
    _ owner: Owner, while phase: LifecyclePhase, after dependency: repeat ManagedResource<each Dependency>,
    retry: RetryPolicy? = nil, readiness: Readiness = .atOnce, onReturn: RunEnd = .rest, onError: RunEnd = .again,
    label: String? = nil,
    fileID: String = #fileID, line: Int = #line,
    _ body: @escaping @MainActor (Owner, repeat each Dependency) async throws -> Void
  ) -> ManagedRun {
    let source = EventBus.Subscriber(label: label, fileID: fileID, line: line)
    let run = ManagedRun(source, in: manager, tasks: tasks)
    // Code of an ended process gets a body that never begins.
    guard let dependencies = indices(of: repeat each dependency, for: source) else { return run }
    var first = manager.keepsOwner(of: phase) ? owner : nil
    let operations = ResourceOperations(body: source, run.holding) { [weak owner] in
      if let owner = first.take() ?? owner { try await body(owner, repeat (each dependency).presentValue) }
    }
    if first != nil {
      // A thread that has just handed the owner over may still hold it.
      let isDue = manager.owesRun(while: phase, after: dependencies)
      operations.isOwedRun = { isDue || isKnownUniquelyReferenced(&first) }
    }
    operations.isOver = { [weak owner, holding = run.holding] in owner == nil || holding.isCancelled }
    // An owner whose phase has closed before its first run is not kept.
    operations.becameIdle = { first = nil }
    operations.habits = ResourceHabits(retry: retry, readiness: readiness, onReturn: onReturn, onError: onError)
    // The manager retains the run for as long as the body may run.
    operations.whenForgotten = { withExtendedLifetime(run) {} }
    run.index = manager.add(operations, while: phase, after: dependencies.unique)
    return run
  }
}
