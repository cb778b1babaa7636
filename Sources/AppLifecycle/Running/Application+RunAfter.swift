internal import PubSub
internal import Scheduling

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
  /// closes does not begin. When a condition no longer holds, the application cancels the body and waits for its end.
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
  /// one client of a server, lives as long as that.
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
    retry: RetryPolicy? = nil, onReturn: RunEnd = .rest, onError: RunEnd = .again, label: String? = nil,
    fileID: String = #fileID, line: Int = #line,
    _ body: @escaping @MainActor (Owner, repeat each Dependency) async throws -> Void
  ) -> ManagedRun {
    let source = EventBus.Subscriber(label: label, fileID: fileID, line: line)
    let run = ManagedRun(source, in: manager, tasks: tasks)
    // Code of an ended process gets a body that never begins.
    guard let dependencies = indices(of: repeat each dependency, for: source) else { return run }
    var first = manager.keepsOwner(of: phase) ? owner : nil
    let operations = ResourceOperations(body: source, run.holding) { [weak owner] in
      if let owner = first.take() ?? owner { try await body(owner, repeat (each dependency).value) }
    }
    operations.isOver = { [weak owner, holding = run.holding] in owner == nil || holding.isCancelled }
    // An owner whose phase has closed before its first run is not kept.
    operations.becameIdle = { first = nil }
    operations.adopt(ResourceHabits(retry, .zero, onReturn, onError))
    // The manager retains the run for as long as the body may run.
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
  /// The body begins when all these conditions are met. When one of them no longer holds, the application cancels the
  /// body and waits for its end. Only then does it release the resources on which the body depends; at the end of a
  /// phase, all resources of the phase. A body that returns begins again when the conditions are met again.
  ///
  /// If the calling task is cancelled, the body is cancelled, too, and the call returns when the body has ended. An
  /// error that the body throws ends the call. A `CancellationError` counts as a return of the body, and does not end
  /// the call.
  ///
  /// - Parameters:
  ///   - phase: the phase during which the body runs.
  ///   - dependency: the resources that the body needs; the handle of each is passed to the body.
  ///   - label: the body's name in reports; its source position if nil.
  ///   - fileID: the module and file of the call.
  ///   - line: the line of the call.
  ///   - body: the code to run, on the main actor.
  /// - Throws: the error that the body throws; a `CancellationError` if a dependency belongs to an earlier process of a
  ///   simulation.
  /// - Precondition: this application manages every dependency, or managed it in an earlier process of a simulation.
  public func run<each Dependency: Sendable>(
    while phase: LifecyclePhase, after dependency: repeat ManagedResource<each Dependency>, label: String? = nil,
    fileID: String = #fileID, line: Int = #line,
    _ body: @escaping @MainActor (repeat each Dependency) async throws -> Void
  ) async throws {
    let source = EventBus.Subscriber(label: label, fileID: fileID, line: line)
    guard let dependencies = indices(of: repeat each dependency, for: source) else { throw CancellationError() }
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

  /// Returns the indices of resources in the manager; nil if one belongs to a process that has ended.
  private func indices<each Dependency>(
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

/// A body that an application runs for an owner, and a way to cancel it.
///
/// ``Application/run(_:while:after:retry:onReturn:onError:label:fileID:line:_:)`` returns it.
///
/// Releasing this object does not cancel the body.
public final class ManagedRun: Sendable {
  /// The body's name in reports: its label, or, without a label, its source position.
  public let name: String
  let holding = ResourceHolding()
  private weak let manager: ResourceManager?
  private let tasks: TaskStarter
  /// Its index in the manager, set before any code can read it.
  @MainActor var index = 0

  init(_ source: EventBus.Subscriber, in manager: ResourceManager, tasks: TaskStarter) {
    (name, self.manager, self.tasks) = (source.description, manager, tasks)
  }

  /// Cancels the body for good.
  ///
  /// Any thread may call it. A second call has no effect. The method returns at once; the body ends when it has noticed
  /// the cancellation.
  public func cancel() {
    holding.cancel()
    tasks.startOnMainActor { self.end() }
  }

  @MainActor func end() {
    holding.cancel()
    if let manager, manager.manages(holding, at: index) { manager.remove(index) }
  }
}

extension ResourceOperations {
  /// Creates the operations of a body, which has a run loop and no handle.
  convenience init(
    body: EventBus.Subscriber, _ holding: ResourceHolding, _ run: @escaping @MainActor () async throws -> Void
  ) {
    self.init(
      name: body.description, holding: holding, body: body, acquire: { HandleBox(()) }, release: { _ in })
    self.run = { _ in try await run() }
  }
}

extension [Int] {
  /// The elements without duplicates, in the order of their first occurrence.
  var unique: [Int] {
    var seen: Set<Int> = []
    return filter { seen.insert($0).inserted }
  }
}
