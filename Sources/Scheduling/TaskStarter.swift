/// Starts the tasks of the package, so that a simulation can run all of them on its own executor.
///
/// Only the drivers of a simulation and of the main queue start tasks of their own.
package struct TaskStarter: Sendable {
  /// The executor preference of the tasks; nil for the global executor.
  package let executor: (any TaskExecutor)?

  package init(executor: (any TaskExecutor)? = nil) { self.executor = executor }

  /// Makes a starter of tasks on the executor of a simulated clock or, for any other clock, on the global executor.
  package init(clock: any Clock<Duration>) { self.init(executor: (clock as? any SimulatedClock)?.taskExecutor) }

  /// The priority of tasks on the main actor, whichever code starts them: that of the main thread itself.
  package static let mainActorPriority = TaskPriority.high

  /// Starts a detached task, which inherits no task-local value of its caller but the ``SharedObject``, and not its
  /// priority.
  ///
  /// The code branches on the executor because an executor preference of nil would slow down every later asynchronous
  /// call of the task. `preferred` is for a task outside a simulation.
  @discardableResult
  package func start(
    priority: TaskPriority? = nil, on preferred: (any TaskExecutor)? = nil,
    seeing shared: (any AnyObject & Sendable)? = SharedObject.current,
    _ operation: @escaping @Sendable @concurrent () async -> Void
  ) -> Task<Void, Never> {
    var operation = operation
    if let shared {
      operation = { [operation] in await SharedObject.$current.withValue(shared) { await operation() } }
    }
    guard let executor = executor ?? preferred else { return Task.detached(priority: priority, operation: operation) }
    return Task.detached(executorPreference: executor, priority: priority, operation: operation)
  }

  /// Starts a detached task on the main actor, without a hop to another thread first.
  ///
  /// It inherits no task-local value of its caller but the ``SharedObject``, and belongs to no handler. Tasks that code
  /// on the main actor starts begin in that order, after this method has returned. In a simulation, `origin` names the
  /// code from which work escapes.
  @discardableResult
  package func startOnMainActor<Success: Sendable>(
    for origin: (any Sendable)? = nil, priority: TaskPriority = mainActorPriority,
    _ operation: @escaping @Sendable @MainActor () async -> Success
  ) -> Task<Success, Never> {
    var operation = Self.withSharedObject(operation)
    guard let executor else { return Task.detached(priority: priority, operation: operation) }
    if let origin {
      operation = { [operation] in await Origin.$bound.withValue(origin) { await operation() } }
    }
    // In a simulation the executor decides the order.
    return Task.detached(executorPreference: executor, priority: priority) { [operation] in await operation() }
  }

  /// Starts a task on the main actor that may throw, as ``startOnMainActor(for:priority:_:)`` does.
  package func startThrowing<Success: Sendable>(
    for origin: any Sendable, _ operation: @escaping @Sendable @MainActor () async throws -> Success
  ) -> Task<Success, any Error> {
    var operation = operation
    if let shared = SharedObject.current {
      operation = { [operation] in
        try await SharedObject.$current.withValue(shared) { try await operation() }
      }
    }
    guard let executor else { return Task.detached(priority: Self.mainActorPriority, operation: operation) }
    operation = { [operation] in try await Origin.$bound.withValue(origin) { try await operation() } }
    return Task.detached(executorPreference: executor, priority: Self.mainActorPriority) { [operation] in
      try await operation()
    }
  }

  /// Starts a task on the main actor, which inherits nothing but the ``SharedObject``, and runs it up to its first suspension before this method
  /// returns.
  ///
  /// - Returns: the task. The result is nil, and no task was started, in a simulation, whose executor must see every
  ///   task, and on systems without `Task.immediateDetached`.
  @MainActor package func startImmediately(
    _ operation: @escaping @Sendable @MainActor () async -> Void
  ) -> Task<Void, Never>? {
    guard executor == nil, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return nil }
    return Task.immediateDetached(priority: Self.mainActorPriority, operation: Self.withSharedObject(operation))
  }

  /// Returns an operation that sees the ``SharedObject`` of its caller.
  private static func withSharedObject<Success: Sendable>(
    _ operation: @escaping @Sendable @MainActor () async -> Success
  ) -> @Sendable @MainActor () async -> Success {
    guard let shared = SharedObject.current else { return operation }
    return { await SharedObject.$current.withValue(shared) { await operation() } }
  }

  /// Waits on the main actor, so that the end of the wait needs no thread of the global pool; `wait` must not run the
  /// program's code.
  @MainActor package func waitOnMainActor<Result>(_ wait: @MainActor () async -> Result) async -> Result {
    guard executor == nil else { return await wait() }
    return await withTaskExecutorPreference(MainActorExecutor.shared) { await wait() }
  }

  /// Runs `body` for a part of the program's code, which a simulation then names if work escapes; otherwise the name is
  /// not evaluated.
  package func naming<Result>(_ origin: @autoclosure () -> any Sendable, _ body: () throws -> Result) rethrows -> Result
  {
    if executor == nil { return try body() }
    return try Origin.$bound.withValue(origin(), operation: body)
  }
}

/// A clock of a simulation, with the executor on which the simulation runs.
package protocol SimulatedClock: Clock<Duration> {
  /// The executor that runs every task of the simulation, in a repeatable order.
  var taskExecutor: any TaskExecutor { get }

  /// Suspends the task for a duration; reports the source line if the task is not part of the simulation.
  func sleep(for duration: Duration, tolerance: Duration?, fileID: String, line: Int) async throws

  /// Runs work of the real world, during which no time passes on this clock.
  func external<Success, Failure: Error>(
    _ body: () async throws(Failure) -> Success
  ) async throws(Failure) -> Success

  /// Advances the clock by the time that the simulation assigns to a call of this name, before that call returns.
  func passTime(in call: String)

  /// Returns the time that the simulation assigns to the next work of this name, once; nil if none.
  func takeLength(of work: String) -> Duration?
}
