import Synchronization

/// Passes one result to the task that waits for it; only the first of several results counts.
package final class Answer<Value: Sendable>: Sendable {
  private enum State {
    case open
    case expected(CheckedContinuation<Value, any Error>)
    case given(Result<Value, any Error>)
    case over
  }

  private let state = Mutex(State.open)

  package init() {}

  /// Waits for the result and returns it.
  ///
  /// One task may wait, once. Cancelling it ends the wait with a `CancellationError`.
  package var value: Value {
    get async throws {
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { expect($0) }
      } onCancel: {
        give(.failure(CancellationError()))
      }
    }
  }

  private func expect(_ continuation: CheckedContinuation<Value, any Error>) {
    let early: Result<Value, any Error>? = state.withLock {
      guard case .given(let result) = $0 else {
        $0 = .expected(continuation)
        return nil
      }
      $0 = .over
      return result
    }
    if let early { continuation.resume(with: early) }
  }

  /// Sets the result; without effect if there is one already.
  package func give(_ result: Result<Value, any Error>) {
    let waiting: CheckedContinuation<Value, any Error>? = state.withLock {
      switch $0 {
      case .open: $0 = .given(result)
      case .expected(let continuation):
        $0 = .over
        return continuation
      case .given, .over: break
      }
      return nil
    }
    waiting?.resume(with: result)
  }
}
