internal import PubSub

/// Tells a body or a run loop that it is to end, before it is cancelled.
///
/// Only a body that listens is asked; any other is cancelled at once.
final class PhaseClosing: Sendable {
  private struct State {
    var isClosing = false
    var lastID: UInt64 = 0
    /// In the order in which they were set.
    var listeners: [(id: UInt64, act: @Sendable () -> Void)] = []
  }

  /// What asks the body or run loop to end in which the present task runs.
  static var present: PhaseClosing? { AwaitedRun.bound?.closing }

  private let state = Guarded(State())

  var isClosing: Bool { state.withLock { $0.isClosing } }

  /// Asks the body to end.
  ///
  /// - Returns: whether it listens; if not, it is to be cancelled.
  func close() -> Bool {
    let listeners = state.withLock { state -> [(id: UInt64, act: @Sendable () -> Void)] in
      state.isClosing = true
      defer { state.listeners = [] }
      return state.listeners
    }
    for listener in listeners { listener.act() }
    return !listeners.isEmpty
  }

  /// Adds a listener; calls it at once, and adds none, if the body has been asked already.
  func add(_ act: @escaping @Sendable () -> Void) -> UInt64? {
    let id = state.withLock { state -> UInt64? in
      guard !state.isClosing else { return nil }
      state.lastID += 1
      state.listeners.append((state.lastID, act))
      return state.lastID
    }
    if id == nil { act() }
    return id
  }

  func remove(_ id: UInt64) { state.withLock { state in state.listeners.removeAll { $0.id == id } } }
}

/// Runs an operation that is asked to end before it is cancelled, inside a body or a run loop that the application runs.
///
/// When the phase closes, or the resource is to be released, `onClose` is called in place of the cancellation; the cancellation
/// follows when the time of the tear-down is up. For servers that drain:
///
///     application.run(self, while: .running, after: listener) { server, listener in
///       await withPhaseClosingHandler {
///         await server.serve(listener)
///       } onClose: {
///         listener.stopAccepting()
///       }
///     }
///
/// Where no application runs the task, this is the operation alone. As with task cancellation, `onClose` is called once, from any
/// thread, perhaps while the operation has not begun or has just ended.
///
/// - Parameters:
///   - operation: what to do, in the caller's isolation.
///   - onClose: asks the operation to end; must not block.
///   - isolation: the caller's.
/// - Returns: what the operation returns.
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

/// Returns when the body or run loop in which it is called is asked to end: its phase closes, or its resource is to be released.
///
/// While a task waits here, the cancellation of the body follows only when the time of the tear-down is up. Returns also when the
/// task is cancelled, which is all that it waits for where no application runs the task. It may be called in a child task of the body.
public func phaseCloses() async {
  let wait = OneShot()
  let closing = PhaseClosing.present
  let id = closing?.add { wait.settle(true) }
  await withTaskCancellationHandler {
    _ = await wait.value
  } onCancel: {
    wait.settle(false)
  }
  if let id { closing?.remove(id) }
}
