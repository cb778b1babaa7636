internal import Scheduling

/// An operation of ``Application/performBackgroundTask(named:_:)``, which may be cancelled before its task is known.
///
/// Its background task can expire, or its process end, on the main actor while the thread that starts it has not
/// started its task yet.
final class BackgroundOperation: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    var isCancelled = false
  }

  /// The run for which an end of the application may wait.
  let run: AwaitedRun
  private let state = Guarded(State())

  init(_ run: AwaitedRun) { self.run = run }

  /// Sets the task that runs the operation, and cancels it if the operation has been cancelled.
  func start(as task: Task<Void, Never>) {
    let isCancelled = state.withLock { state in
      state.task = task
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  /// Cancels the operation, or its task when it begins.
  func cancel() {
    let task = state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    task?.cancel()
  }

  /// Cancels the present task, which begins to run the operation, if the operation has been cancelled.
  func willRun() {
    guard state.withLock({ $0.isCancelled }) else { return }
    withUnsafeCurrentTask { $0?.cancel() }
  }
}
