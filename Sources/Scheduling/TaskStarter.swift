/// The only place in which the package starts tasks, so that a simulation can run all of them on its own executor.
package struct TaskStarter: Sendable {
  /// The executor preference of the tasks; nil for the global executor.
  package let executor: (any TaskExecutor)?

  package init(executor: (any TaskExecutor)? = nil) { self.executor = executor }

  /// Makes a starter of tasks on the executor of a simulated clock or, for any other clock, on the global executor.
  package init(clock: any Clock<Duration>) { self.init(executor: (clock as? any SimulatedClock)?.taskExecutor) }

  /// The priority of tasks on the main actor: that of the main thread itself.
  ///
  /// The code that happens to start a task does not determine it.
  package static let mainActorPriority = TaskPriority.high

  /// Starts a detached task, which inherits neither the task-local values nor the priority of its caller.
  ///
  /// Such a task may serve many callers, and not only the one that starts it. The code branches on the executor because
  /// an executor preference of nil would slow down every later asynchronous call of the task.
  ///
  /// - Parameters:
  ///   - priority: the task's priority; the default one if nil.
  ///   - shared: the value of ``SharedObject`` in the task; nil in a program.
  ///   - operation: the body of the task; it runs outside the caller's isolation.
  /// - Returns: the task.
  @discardableResult
  package func start(
    priority: TaskPriority? = nil, seeing shared: (any AnyObject & Sendable)? = SharedObject.current,
    _ operation: @escaping @Sendable @concurrent () async -> Void
  ) -> Task<Void, Never> {
    var operation = operation
    if let shared {
      operation = { [operation] in await SharedObject.$current.withValue(shared) { await operation() } }
    }
    guard let executor else { return Task.detached(priority: priority, operation: operation) }
    return Task.detached(executorPreference: executor, priority: priority, operation: operation)
  }

  /// Starts a detached task on the main actor, without a hop to another thread first.
  ///
  /// It inherits neither the task-local values nor the priority of its caller, and belongs to no handler, even if a
  /// handler starts it. Tasks that code on the main actor starts begin in the order in which they were started.
  ///
  /// - Parameters:
  ///   - origin: in a simulation, names the code from which work escapes.
  ///   - priority: the task's priority; that of the main thread by default.
  ///   - operation: the body of the task, which begins after this method has returned.
  /// - Returns: the task.
  @discardableResult
  package func startOnMainActor<Success: Sendable>(
    for origin: (any Sendable)? = nil, priority: TaskPriority = mainActorPriority,
    _ operation: @escaping @Sendable @MainActor () async -> Success
  ) -> Task<Success, Never> {
    var operation = Self.withSharedObject(operation)
    guard let executor else { return Task.detached(priority: priority, operation: operation) }
    // In a simulation the executor decides the order.
    if let origin {
      operation = { [operation] in await Origin.$bound.withValue(origin) { await operation() } }
    }
    return Task.detached(executorPreference: executor, priority: priority) { [operation] in await operation() }
  }

  /// Starts a detached task on the main actor that may throw, as ``startOnMainActor(for:priority:_:)`` does.
  ///
  /// - Parameters:
  ///   - origin: in a simulation, names the code from which work escapes.
  ///   - operation: the body of the task, which begins after this method has returned.
  /// - Returns: the task.
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

  /// Starts a task on the main actor, and runs it up to its first suspension before this method returns.
  ///
  /// The task inherits nothing from its caller.
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

  /// Waits on the main actor, so that the end of the wait needs no thread of the global pool.
  ///
  /// - Parameter wait: waits; must not run the program's code.
  /// - Returns: the result of the wait.
  @MainActor package func waitOnMainActor<Result>(_ wait: @MainActor () async -> Result) async -> Result {
    guard executor == nil else { return await wait() }
    return await withTaskExecutorPreference(MainActorExecutor.shared) { await wait() }
  }

  /// Runs `body` on behalf of a part of the program's code, so that a simulation can name the code from which work
  /// escapes.
  ///
  /// Outside a simulation the name is not evaluated.
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

  /// Suspends the task for a duration, and reports the source line of the call if the task is not part of the
  /// simulation.
  func sleep(for duration: Duration, tolerance: Duration?, fileID: String, line: Int) async throws

  /// Advances the clock by the time that the simulation assigns to a call of this name, before that call returns.
  func passTime(in call: String)
}
