/// The only place in which the package starts tasks, so that a simulation can run all of them on its own executor.
package struct TaskStarter: Sendable {
  /// The executor preference of the tasks; nil for the global executor.
  package let executor: (any TaskExecutor)?

  package init(executor: (any TaskExecutor)? = nil) { self.executor = executor }

  /// Makes a starter of tasks on the executor of a simulated clock or, for any other clock, on the global executor.
  package init(clock: any Clock<Duration>) { self.init(executor: (clock as? any SimulatedClock)?.taskExecutor) }

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

  /// Starts a task on the main actor, without a hop to another thread first.
  ///
  /// Tasks that code on the main actor starts begin in the order in which they were started.
  ///
  /// - Parameters:
  ///   - origin: in a simulation, names the code from which work escapes.
  ///   - operation: the body of the task.
  /// - Returns: the task.
  @discardableResult
  package func startOnMainActor(
    for origin: Subscriber? = nil, _ operation: @escaping @Sendable @MainActor () async -> Void
  ) -> Task<Void, Never> {
    guard let executor else { return Task(operation: operation) }
    // In a simulation the executor decides the order.
    return Origin.$bound.withValue(origin) { Task(executorPreference: executor) { await operation() } }
  }

  /// Starts a detached task on the main actor, as ``start(priority:seeing:_:)`` does.
  ///
  /// - Parameters:
  ///   - priority: the task's priority.
  ///   - operation: runs on the main actor, and begins after this method has returned.
  package func startDetachedOnMainActor(
    priority: TaskPriority, _ operation: @escaping @Sendable @MainActor () async -> Void
  ) {
    var operation = operation
    if let shared = SharedObject.current {
      operation = { [operation] in await SharedObject.$current.withValue(shared) { await operation() } }
    }
    guard let executor else {
      Task.detached(priority: priority, operation: operation)
      return
    }
    Task.detached(executorPreference: executor, priority: priority) { [operation] in await operation() }
  }

  /// Starts a task on the main actor that belongs to no handler, even if a handler starts it.
  ///
  /// - Parameters:
  ///   - origin: names the task and, in a simulation, the code from which work escapes.
  ///   - operation: runs on the main actor, and begins after this method has returned.
  /// - Returns: the task.
  package func startOutsideHandlers<Success: Sendable>(
    for origin: Subscriber, _ operation: @escaping @Sendable @MainActor () async throws -> Success
  ) -> Task<Success, any Error> {
    HandlerContext.outside {
      guard let executor else { return Task(operation: operation) }
      return Origin.$bound.withValue(origin) {
        Task(executorPreference: executor) { try await operation() }
      }
    }
  }

  /// Starts a task on the main actor that belongs to no handler and throws no error, even if a handler starts it.
  ///
  /// - Parameter operation: runs on the main actor, and begins after this method has returned.
  /// - Returns: the task.
  package func startOutsideHandlers<Success: Sendable>(
    _ operation: @escaping @Sendable @MainActor () async -> Success
  ) -> Task<Success, Never> {
    HandlerContext.outside {
      guard let executor else { return Task(operation: operation) }
      return Task(executorPreference: executor) { await operation() }
    }
  }

  /// Runs `body` on behalf of a part of the program's code, so that a simulation can name the code from which work
  /// escapes.
  ///
  /// Outside a simulation the name is not evaluated.
  package func naming<Result>(_ origin: @autoclosure () -> Subscriber, _ body: () throws -> Result) rethrows -> Result {
    if executor == nil { return try body() }
    return try Origin.$bound.withValue(origin(), operation: body)
  }

  /// Starts a task on the main actor, and runs it up to its first suspension before this method returns.
  ///
  /// - Returns: the task. The result is nil, and no task was started, in a simulation, whose executor must see every
  ///   task, and on systems without `Task.immediate`.
  @MainActor package func startImmediately(
    _ operation: @escaping @Sendable @MainActor () async -> Void
  ) -> Task<Void, Never>? {
    guard executor == nil, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return nil }
    return Task.immediate(operation: operation)
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
