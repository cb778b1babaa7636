/// The one place in which the package makes tasks, so that a simulation can have them all on its own executor.
package struct TaskStarter: Sendable {
  /// Where tasks prefer to run; nil for the global executor.
  package let executor: (any TaskExecutor)?

  package init(executor: (any TaskExecutor)? = nil) { self.executor = executor }

  /// Tasks on the executor that a clock brings along, if it brings one.
  package init(clock: any Clock<Duration>) { self.init(executor: (clock as? any SimulatedClock)?.taskExecutor) }

  /// Starts a detached task: one that serves many callers inherits no task-local value and no priority of the caller that
  /// happened to start it.
  ///
  /// A preference that is a variable holding nil would cost every later asynchronous call of the task, hence the branch.
  ///
  /// - Parameters:
  ///   - priority: the task's priority; the default one if nil.
  ///   - shared: the test's object that the task is to see, if there is one.
  ///   - operation: what is done, outside the caller's isolation.
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

  /// Starts a task on the main actor, without a detour by another thread.
  ///
  /// Those that are started on the main actor begin in the order in which they were started.
  ///
  /// - Parameters:
  ///   - origin: names, in a simulation, what escapes from the task.
  ///   - operation: what is done.
  /// - Returns: the task.
  @discardableResult
  package func startOnMainActor(
    for origin: Subscriber? = nil, _ operation: @escaping @Sendable @MainActor () async -> Void
  ) -> Task<Void, Never> {
    guard let executor else { return Task(operation: operation) }
    // In a simulation the executor's own order counts.
    return Origin.$bound.withValue(origin) { Task(executorPreference: executor) { await operation() } }
  }

  /// Starts a detached task on the main actor, as ``start(priority:seeing:_:)`` does.
  ///
  /// - Parameters:
  ///   - priority: the task's priority.
  ///   - operation: runs on the main actor, and begins after this has returned.
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

  /// Starts a task on the main actor that belongs to no handler, whichever handler starts it.
  ///
  /// - Parameters:
  ///   - origin: names the task, and in a simulation what escapes from it.
  ///   - operation: runs on the main actor, and begins after this has returned.
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

  /// Does something in the name of a piece of the program's code, so that a simulation can name what escapes from it.
  ///
  /// Outside of a simulation the name is not needed, and not made.
  package func naming<Result>(_ origin: @autoclosure () -> Subscriber, _ body: () throws -> Result) rethrows -> Result {
    if executor == nil { return try body() }
    return try Origin.$bound.withValue(origin(), operation: body)
  }

  /// Starts a task on the main actor, and runs it up to its first suspension before this returns.
  ///
  /// - Returns: the task; nil, and nothing has been started, where that cannot be: in a simulation, which is to see every
  ///   task, and on systems whose tasks cannot begin so.
  @MainActor package func startImmediately(
    _ operation: @escaping @Sendable @MainActor () async -> Void
  ) -> Task<Void, Never>? {
    guard executor == nil, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return nil }
    return Task.immediate(operation: operation)
  }
}

/// A clock of a closed, simulated world, which brings the executor on which that world runs.
package protocol SimulatedClock: Clock<Duration> {
  /// Runs every task of the simulated world, in an order that can be repeated.
  var taskExecutor: any TaskExecutor { get }

  /// Suspends the task for a duration, and names the line that sleeps if the task does not belong to the world.
  func sleep(for duration: Duration, tolerance: Duration?, fileID: String, line: Int) async throws

  /// A call of this name is about to return: the time passes that the world says it takes.
  func passTime(in call: String)
}
