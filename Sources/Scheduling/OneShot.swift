/// A value that the first of several calls sets, and for which one task waits.
package final class OneShot<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var waiter: UnsafeContinuation<Value, Never>?
  }

  private let state = Guarded(State())

  package init() {}

  package func settle(_ value: Value) {
    let waiter = state.withLock { state -> UnsafeContinuation<Value, Never>? in
      guard state.value == nil else { return nil }
      state.value = value
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: value)
  }

  package var value: Value {
    get async {
      await withUnsafeContinuation { continuation in
        let known = state.withLock { state -> Value? in
          if state.value == nil { state.waiter = continuation }
          return state.value
        }
        if let known { continuation.resume(returning: known) }
      }
    }
  }
}
