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
  /// The body begins when the last of these conditions is met. When one of them fails, the body is cancelled and awaited; only
  /// then are the resources released that it depends on. A body that is late for the budget no longer keeps them. A body that uses
  /// ``withPhaseClosingHandler(operation:onClose:isolation:)`` is asked first. The next run begins after the last one has
  /// ended.
  ///
  /// The body may run many times, so it must iterate a sequence that can be iterated again. An `AsyncStream` cannot: it ends
  /// for good when the first run is cancelled.
  ///
  /// The owner is held weakly between two runs, and is kept alive by a body that runs; once the owner is gone, the body does
  /// not begin any more.
  ///
  /// - Parameters:
  ///   - owner: the object that is passed to the body.
  ///   - phase: the phase during which the body runs.
  ///   - dependency: the resources that the body needs; the handle of each is passed to the body.
  ///   - retry: when the body begins again; ``Configuration/retry`` if nil. Its maximum does not apply: a body is not given up.
  ///   - onReturn: what follows when the body returns without having been asked to end.
  ///   - onError: what follows when the body throws without having been asked to end.
  ///   - label: the body's name in reports; its source position if nil.
  ///   - fileID: the module and file of the call.
  ///   - line: the line of the call.
  ///   - body: the code to run, on the main actor.
  /// - Returns: an object that cancels the body for good; may be discarded.
  /// - Precondition: this application manages every dependency.
  @discardableResult
  public func run<Owner: AnyObject, each Dependency: Sendable>(
    _ owner: Owner, while phase: LifecyclePhase, after dependency: repeat ManagedResource<each Dependency>,
    retry: RetryPolicy? = nil, onReturn: RunEnd = .rest, onError: RunEnd = .again, label: String? = nil,
    fileID: String = #fileID, line: Int = #line,
    _ body: @escaping @MainActor (Owner, repeat each Dependency) async throws -> Void
  ) -> ManagedRun {
    let source = Subscriber(label: label, fileID: fileID, line: line)
    var dependencies: [Int] = []
    for one in repeat each dependency { dependencies.append(requireIndex(of: one, for: source)) }
    let run = ManagedRun(source, in: manager, tasks: tasks)
    let operations = ResourceOperations(body: source, run.holding) { [weak owner] in
      if let owner { try await body(owner, repeat (each dependency).value) }
    }
    operations.isOver = { [weak owner, holding = run.holding] in owner == nil || holding.isCancelled }
    operations.adopt(ResourceHabits(retry, .zero, onReturn, onError))
    // Kept by the manager for as long as the body may run.
    operations.whenForgotten = { withExtendedLifetime(run) {} }
    run.index = manager.add(operations, while: phase, after: dependencies.unique)
    return run
  }

  /// Runs a body while a phase of the life cycle holds and every resource that it depends on is held.
  ///
  ///     try await application.run(while: .foreground, after: connection) { connection in
  ///       for try await line in connection.lines { show(line) }
  ///     }
  ///
  /// The body begins when the last of these conditions is met. When one of them fails, the body is cancelled and awaited; only
  /// then are the resources released that it depends on. A body that returns begins again when the conditions are met again.
  ///
  /// Returns when the calling task is cancelled: the body is then cancelled, too, and has ended. An error that the body throws
  /// ends the call; a `CancellationError` does not, and counts as a return.
  ///
  /// - Parameters:
  ///   - phase: the phase during which the body runs.
  ///   - dependency: the resources that the body needs; the handle of each is passed to the body.
  ///   - label: the body's name in reports; its source position if nil.
  ///   - fileID: the module and file of the call.
  ///   - line: the line of the call.
  ///   - body: the code to run, on the main actor.
  /// - Throws: the error that the body throws.
  /// - Precondition: this application manages every dependency.
  public func run<each Dependency: Sendable>(
    while phase: LifecyclePhase, after dependency: repeat ManagedResource<each Dependency>, label: String? = nil,
    fileID: String = #fileID, line: Int = #line,
    _ body: @escaping @MainActor (repeat each Dependency) async throws -> Void
  ) async throws {
    let source = Subscriber(label: label, fileID: fileID, line: line)
    var dependencies: [Int] = []
    for one in repeat each dependency { dependencies.append(requireIndex(of: one, for: source)) }
    let run = ManagedRun(source, in: manager, tasks: tasks)
    let ended = OneShot()
    var failure: (any Error)?
    let operations = ResourceOperations(body: source, run.holding) { try await body(repeat (each dependency).value) }
    operations.adopt(ResourceHabits(nil, .zero, .rest, .rest))
    operations.loopDidThrow = { error in
      failure = error
      run.end()
      return false
    }
    operations.whenForgotten = { ended.settle(true) }
    run.index = manager.add(operations, while: phase, after: dependencies.unique)
    await withTaskCancellationHandler {
      _ = await ended.value
    } onCancel: {
      run.cancel()
    }
    if let failure { throw failure }
  }

  private func requireIndex<Handle>(of resource: ManagedResource<Handle>, for source: Subscriber) -> Int {
    do { return try index(of: resource, for: source.description) } catch { preconditionFailure("\(error)") }
  }
}

/// A body that an application runs for an owner.
///
/// ``Application/run(_:while:after:retry:onReturn:onError:label:fileID:line:_:)`` makes it.
///
/// Releasing it cancels nothing: the body ends with its owner.
public final class ManagedRun: Sendable {
  /// What reports call the body: its label, else its source position.
  public let name: String
  let holding = ResourceHolding()
  private weak let manager: ResourceManager?
  private let tasks: TaskStarter
  /// Its place in the manager, known before anything can ask for it.
  @MainActor var index = 0

  init(_ source: Subscriber, in manager: ResourceManager, tasks: TaskStarter) {
    (name, self.manager, self.tasks) = (source.description, manager, tasks)
  }

  /// Ends the body for good.
  ///
  /// May be called from any thread, and a second time without effect. Returns at once; the body ends when it has noticed the
  /// cancellation.
  public func cancel() {
    holding.cancel()
    HandlerContext.outside { tasks.startOnMainActor { self.end() } }
  }

  @MainActor func end() {
    holding.cancel()
    if let manager, manager.manages(holding, at: index) { manager.remove(index) }
  }
}

extension ResourceOperations {
  /// A body: it has a run loop and no handle.
  convenience init(
    body: Subscriber, _ holding: ResourceHolding, _ run: @escaping @MainActor () async throws -> Void
  ) {
    self.init(
      name: body.description, holding: holding, body: body, acquire: { HandleBox(()) }, release: { _ in })
    self.run = { _ in try await run() }
  }
}

extension [Int] {
  /// Each once, in order of its first place.
  var unique: [Int] {
    var seen: Set<Int> = []
    return filter { seen.insert($0).inserted }
  }
}
