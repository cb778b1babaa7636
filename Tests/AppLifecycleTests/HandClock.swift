import AppLifecycleTesting
import Scheduling

/// A clock that a test advances and that is not a simulation: the application treats it as a real one.
final class HandClock: Clock {
  typealias Instant = ManualClock.Instant
  private typealias Continuation = CheckedContinuation<Void, any Error>

  private struct State: Sendable {
    var now = Instant()
    var sleepers: [Int: (deadline: Instant, continuation: Continuation)] = [:]
    var lastID = 0
    var hasFailed = false
  }

  struct SleepFailed: Error {}

  let minimumResolution: Swift.Duration = .nanoseconds(1)
  private let state = Guarded(State())
  private let wasAsked: @Sendable (Instant) -> Void

  /// Makes a clock that shows zero.
  ///
  /// - Parameter wasAsked: called when a task begins to sleep.
  init(wasAsked: @escaping @Sendable (Instant) -> Void) { self.wasAsked = wasAsked }

  var now: Instant { state.withLock { $0.now } }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: Continuation) in
        let outcome: Result<Void, any Error>? = state.withLock { state in
          if Task.isCancelled { return .failure(CancellationError()) }
          if deadline <= state.now { return .success(()) }
          if state.hasFailed { return .failure(SleepFailed()) }
          state.sleepers[id] = (deadline, continuation)
          return nil
        }
        if let outcome { return continuation.resume(with: outcome) }
        wasAsked(deadline)
      }
    } onCancel: {
      state.withLock { $0.sleepers.removeValue(forKey: id)?.continuation }?.resume(throwing: CancellationError())
    }
  }

  func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let due = state.sleepers.filter { $0.value.deadline <= state.now }
      for id in due.keys { state.sleepers[id] = nil }
      return due.sorted { $0.key < $1.key }.map(\.value.continuation)
    }
    for continuation in due { continuation.resume() }
  }

  /// Ends each sleep with an error, from now on.
  func fail() {
    let sleepers = state.withLock { state in
      defer { (state.sleepers, state.hasFailed) = ([:], true) }
      return state.sleepers.sorted { $0.key < $1.key }.map(\.value.continuation)
    }
    for continuation in sleepers { continuation.resume(throwing: SleepFailed()) }
  }
}
