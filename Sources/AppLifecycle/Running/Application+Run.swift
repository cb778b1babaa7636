internal import PubSub
internal import Scheduling

extension Application {
  /// Runs a body while a phase of the life cycle holds, and every resource that it depends on is held.
  ///
  ///     await application.run(while: .active) { await game.play() }
  ///
  ///     try await application.run(while: .foreground, after: connection) { connection in
  ///       for try await line in connection.lines { show(line) }
  ///     }
  ///
  /// The body begins when all these conditions are met, or at once if they are. When the phase closes, the application
  /// cancels the body after all handlers of the closing notification. It releases managed resources only when the body
  /// has ended. The transition awaits the end within the budget of didEnterBackground or willTerminate. When the
  /// application resigns active and stays in the foreground, no transition waits; a body that takes longer than the
  /// budget of didEnterBackground is reported. When a dependency is to be released, the application ends the body first.
  ///
  /// Each run ends before the next one begins, even if the application returns at once. A body that ends by itself begins
  /// again when the phase opens again, or when a dependency has been acquired again.
  ///
  /// If the calling task is cancelled, the body is cancelled, too, and the call returns when the body has ended. An
  /// error that the body throws ends the call. A `CancellationError` counts as a return of the body, and does not end
  /// the call.
  ///
  /// A body that uses ``withPhaseClosingHandler(operation:onClose:isolation:)`` or awaits ``phaseCloses()`` is asked to
  /// end. It is cancelled when the time of the tear-down has passed, or earlier, when the phase opens again. A body that
  /// ignores its cancellation outlives its phase, and the report of the transition names it.
  ///
  /// If the process of a simulation vanishes, the application cancels the body, and waits no longer for it. The body
  /// begins again in the next process, if the call belongs to the test; a call of the program's code returns when the
  /// next process has a delegate of its own, and a later call with a resource of the ended process returns at once.
  ///
  /// - Parameters:
  ///   - phase: the phase during which the body runs.
  ///   - dependency: the resources that the body needs; the handle of each is passed to the body.
  ///   - label: the body's name in reports; its source position if nil.
  ///   - fileID: the module and file of the call.
  ///   - line: the line of the call.
  ///   - body: the code to run, on the main actor.
  /// - Throws: the error that the body throws.
  /// - Precondition: this application manages every dependency, or managed it in an earlier process of a simulation.
  public func run<Failure: Error, each Dependency: Sendable>(
    while phase: LifecyclePhase, after dependency: repeat ManagedResource<each Dependency>, label: String? = nil,
    fileID: String = #fileID, line: Int = #line,
    _ body: @escaping @MainActor (repeat each Dependency) async throws(Failure) -> Void
  ) async throws(Failure) {
    let source = EventBus.Subscriber(label: label, fileID: fileID, line: line)
    guard let dependencies = indices(of: repeat each dependency, for: source) else { return }
    let run = ManagedRun(source, in: manager, tasks: tasks)
    let ended = OneShot<Bool>()
    var failure: Failure?
    let operations = ResourceOperations(body: source, run.holding) {
      try await body(repeat (each dependency).presentValue)
    }
    operations.habits = ResourceHabits(onReturn: .rest, onError: .rest)
    operations.loopDidThrow = { error in
      // The body threw this error; a dependency is held while it runs.
      failure = error as? Failure
      run.end()
    }
    operations.isOver = { [holding = run.holding] in holding.isCancelled }
    operations.whenForgotten = { ended.settle(true) }
    run.index = manager.add(operations, while: phase, after: dependencies.unique)
    await withTaskCancellationHandler {
      _ = await ended.value
    } onCancel: {
      run.cancel()
    }
    if let failure { throw failure }
  }

  /// Returns the indices of resources in the manager; nil if one belongs to a process that has ended.
  func indices<each Dependency>(
    of dependency: repeat ManagedResource<each Dependency>, for source: EventBus.Subscriber
  ) -> [Int]? {
    var indices: [Int] = []
    for one in repeat each dependency {
      if one.holding.isOfEndedProcess { return nil }
      do {
        indices.append(try index(of: one, for: source.description))
      } catch {
        preconditionFailure("\(error)")
      }
    }
    return indices
  }
}

extension [Int] {
  /// The elements without duplicates, in the order of their first occurrence.
  var unique: [Int] {
    var seen: Set<Int> = []
    return filter { seen.insert($0).inserted }
  }
}
