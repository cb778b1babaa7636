import Synchronization

/// The wait for something ended without it.
package struct WaitFailed: Error, CustomStringConvertible {
  /// Why the wait ended.
  package enum Cause: Sendable, Equatable {
    /// The deadline passed.
    case deadline(Duration)
    /// It can never come any more: the source has ended.
    case ended
  }

  /// Why the wait ended.
  package let cause: Cause
  /// What was waited for.
  package let wanted: String
  /// What there was instead.
  package let found: String

  package init(cause: Cause, wanted: String, found: String) {
    (self.cause, self.wanted, self.found) = (cause, wanted, found)
  }

  /// A sentence for the test's report.
  package var description: String {
    switch cause {
    case .deadline(let limit): "waited \(limit) in vain for \(wanted); there was:\n\(found)"
    case .ended: "\(wanted) did not come before the end; there was:\n\(found)"
    }
  }
}

/// A state behind a lock, and tasks that wait until it satisfies a condition.
///
/// The condition is tried and the waiter is registered in one critical section, and every change tries all waiters' conditions
/// before it leaves the lock: no change can fall between the look and the wait, and nothing polls. A condition may change the
/// state, so that what one waiter has taken no other sees. The deadline only bounds failure: a test never waits for it.
package final class Monitor<State: Sendable>: Sendable {
  private struct Waiter: Sendable {
    let id: Int
    /// Tries the condition and resumes the task when it holds (or has become impossible).
    let isServed: @Sendable (inout State) -> Bool
    let fail: @Sendable (State, any Error) -> Void
  }

  private struct Storage {
    var state: State
    var waiters: [Waiter] = []
    var nextID = 0
    /// Waits that were given up before they were registered.
    var givenUp: [Int: any Error] = [:]
  }

  private let storage: Mutex<Storage>
  private let describe: @Sendable (State) -> String

  /// A monitor of `state`; `describe` says in a failed wait's error what there was.
  package init(_ state: State, describe: @escaping @Sendable (State) -> String = { "\($0)" }) {
    storage = Mutex(Storage(state: state))
    self.describe = describe
  }

  /// The present state.
  package var state: State { storage.withLock { $0.state } }

  /// Changes the state and serves the tasks that waited for it, in the order in which they came.
  @discardableResult package func update<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
    storage.withLock { storage in
      let result = change(&storage.state)
      // Taken out while their conditions run: a condition changes the state, never the list.
      var waiters = storage.waiters
      storage.waiters = []
      waiters.removeAll { $0.isServed(&storage.state) }
      storage.waiters = waiters
      return result
    }
  }

  /// Waits until `condition` returns a value, and returns that; it runs under the lock.
  ///
  /// - Throws: ``WaitFailed`` past the deadline, the condition's own error, or `CancellationError`.
  package func wait<Result: Sendable>(
    for wanted: String, within limit: Duration, _ condition: @escaping @Sendable (inout State) throws -> Result?
  ) async throws -> Result {
    let id = storage.withLock { storage in
      storage.nextID += 1
      return storage.nextID
    }
    let alarm = Task {
      try await Task.sleep(for: limit)
      self.giveUp(id) { WaitFailed(cause: .deadline(limit), wanted: wanted, found: self.describe($0)) }
    }
    defer {
      alarm.cancel()
      storage.withLock { _ = $0.givenUp.removeValue(forKey: id) }
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        register(id, continuation, condition)
      }
    } onCancel: {
      giveUp(id) { _ in CancellationError() }
    }
  }

  private func register<Result: Sendable>(
    _ id: Int, _ continuation: CheckedContinuation<Result, any Error>,
    _ condition: @escaping @Sendable (inout State) throws -> Result?
  ) {
    let waiter = Waiter(
      id: id,
      isServed: { state in
        do {
          guard let result = try condition(&state) else { return false }
          continuation.resume(returning: result)
        } catch {
          continuation.resume(throwing: error)
        }
        return true
      }, fail: { _, error in continuation.resume(throwing: error) })
    storage.withLock { storage in
      if waiter.isServed(&storage.state) { return }
      if let error = storage.givenUp[id] {
        waiter.fail(storage.state, error)
      } else {
        storage.waiters.append(waiter)
      }
    }
  }

  private func giveUp(_ id: Int, _ error: (State) -> any Error) {
    storage.withLock { storage in
      let error = error(storage.state)
      if let index = storage.waiters.firstIndex(where: { $0.id == id }) {
        storage.waiters.remove(at: index).fail(storage.state, error)
      } else {
        storage.givenUp[id] = error
      }
    }
  }
}
