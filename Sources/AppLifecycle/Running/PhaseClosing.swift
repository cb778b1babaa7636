internal import Scheduling

/// A request to a body or a run loop to end, before it is cancelled.
///
/// Only a body with a listener is asked; any other body is cancelled at once.
final class PhaseClosing: Sendable {
  private struct State {
    var isClosing = false
    /// Whether a listener was added after the request, and called at once.
    var wasHeard = false
    var lastID: UInt64 = 0
    /// The listeners, in the order in which they were added.
    var listeners: [(id: UInt64, act: @Sendable () -> Void)] = []
  }

  /// The request to the body or run loop in which the current task runs.
  static var present: PhaseClosing? { AwaitedRun.bound?.closing }

  private let state = Guarded(State())

  /// Asks the body to end.
  ///
  /// - Returns: whether the body has or had a listener; if not, the caller must cancel the body.
  func close() -> Bool {
    let (listeners, wasHeard) = state.withLock { state in
      state.isClosing = true
      defer { state.listeners = [] }
      return (state.listeners, state.wasHeard)
    }
    for listener in listeners { listener.act() }
    return wasHeard || !listeners.isEmpty
  }

  /// Adds a listener; if the body has been asked already, calls the listener at once and does not add it.
  func add(_ act: @escaping @Sendable () -> Void) -> UInt64? {
    let id = state.withLock { state -> UInt64? in
      guard !state.isClosing else {
        state.wasHeard = true
        return nil
      }
      state.lastID += 1
      state.listeners.append((state.lastID, act))
      return state.lastID
    }
    if id == nil { act() }
    return id
  }

  func remove(_ id: UInt64) { state.withLock { state in state.listeners.removeAll { $0.id == id } } }
}

/// Runs an operation, and calls a handler that asks it to end before it is cancelled.
///
/// Use it inside a body or a run loop that the application runs. When the phase closes, or the resource is to be
/// released, the application calls `onClose` instead of cancelling. It cancels the operation when the time of the
/// tear-down or release has passed, or earlier, when the phase opens again. A server can drain its connections in this
/// time:
///
///     application.run(self, while: .running, after: listener) { server, listener in
///       await withPhaseClosingHandler {
///         await server.serve(listener)
///       } onClose: {
///         listener.stopAccepting()
///       }
///     }
///
/// If the phase closes while the operation runs, the task is not cancelled when the operation has returned, so the code
/// behind it can save its result. If the phase closes outside the operation, the task is cancelled. A loop that
/// protects each of its items must remember in `onClose` that it was asked to end, and then end by itself:
///
///     while !isClosing.load(ordering: .relaxed), let job = await queue.next() {
///       await withPhaseClosingHandler {
///         await render(job)
///       } onClose: {
///         isClosing.store(true, ordering: .relaxed)
///       }
///     }
///
/// While it waits for the next job, outside the operation, this loop is cancelled.
///
/// Elsewhere, such as in `application.task`, a handler, an acquire or a release, the function only performs the
/// operation. As with task cancellation, `onClose` is called at most once, on any thread, and perhaps before the
/// operation has begun or just after it has ended.
///
/// - Parameters:
///   - operation: the work to do, in the caller's isolation.
///   - onClose: asks the operation to end; must not block. If the body ends with the operation, leave it empty to let
///     the operation finish within the budget.
///   - isolation: the isolation of the caller.
/// - Returns: the value that the operation returns.
/// - Throws: the error that the operation throws.
public func withPhaseClosingHandler<Success, Failure: Error>(
  operation: () async throws(Failure) -> Success, onClose: @escaping @Sendable () -> Void,
  isolation: isolated (any Actor)? = #isolation
) async throws(Failure) -> Success {
  guard let closing = PhaseClosing.present else { return try await operation() }
  let id = closing.add(onClose)
  defer { if let id { closing.remove(id) } }
  return try await operation()
}

/// Runs an operation, and calls an asynchronous function that shuts it down, instead of cancelling it.
///
/// Use it where the request to end must be awaited, as with a `ServiceGroup`:
///
///     try await withPhaseClosingHandler {
///       try await group.run()
///     } shutDown: {
///       await group.triggerGracefulShutdown()
///     }
///
/// The rules are those of ``withPhaseClosingHandler(operation:onClose:isolation:)``. The function runs in a child task, at most
/// once, perhaps before the operation has begun or just after it has ended. This call returns when both have ended. If the operation
/// ends by itself, or runs elsewhere, the function is not called. If the body is cancelled together with the request, as by
/// ``ManagedRun/cancel()``, the function runs in a cancelled task.
///
/// - Parameters:
///   - operation: the work to do, in the caller's isolation.
///   - shutDown: shuts the operation down.
///   - isolation: the isolation of the caller.
/// - Returns: the value that the operation returns.
/// - Throws: the error that the operation throws.
public func withPhaseClosingHandler<Success, Failure: Error>(
  operation: () async throws(Failure) -> Success, shutDown: @escaping @Sendable () async -> Void,
  isolation: isolated (any Actor)? = #isolation
) async throws(Failure) -> Success {
  guard let closing = PhaseClosing.present else { return try await operation() }
  let asked = OneShot<Bool>()
  let id = closing.add { asked.settle(true) }
  async let handler: Void = { if await asked.value { await shutDown() } }()
  let result: Result<Success, Failure>
  do throws(Failure) { result = .success(try await operation()) } catch { result = .failure(error) }
  if let id { closing.remove(id) }
  asked.settle(false)
  // The end of the scope would cancel it.
  await handler
  return try result.get()
}

/// Waits until the body or run loop in which it is called is asked to end.
///
/// The application asks it to end when its phase closes or its resource is to be released.
///
/// While a task of a body or run loop waits here, the close of the phase does not cancel that body: this function returns
/// instead, and the body has the rest of the time of the tear-down or release. It is cancelled when that time has passed,
/// or earlier, when the phase opens again. The function also returns when the task is cancelled; in other code it waits
/// only for that. A child task of the body or run loop may call it. If the phase closes before any task waits here, the
/// body is cancelled, and this function returns at once. To be asked from its beginning on, put the whole body into
/// ``withPhaseClosingHandler(operation:onClose:isolation:)``, with an empty `onClose`.
public func phaseCloses() async {
  let wait = OneShot<Bool>()
  let closing = PhaseClosing.present
  let id = closing?.add { wait.settle(true) }
  await withTaskCancellationHandler {
    _ = await wait.value
  } onCancel: {
    wait.settle(false)
  }
  if let id { closing?.remove(id) }
}
