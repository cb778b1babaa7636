/// A Boolean value that the first of several calls sets, and for which one task waits.
package final class OneShot: Sendable {
  private struct State {
    var value: Bool?
    var waiter: UnsafeContinuation<Bool, Never>?
  }

  private let state = Guarded(State())

  package init() {}

  package func settle(_ value: Bool) {
    let waiter = state.withLock { state -> UnsafeContinuation<Bool, Never>? in
      guard state.value == nil else { return nil }
      state.value = value
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: value)
  }

  package var value: Bool {
    get async {
      await withUnsafeContinuation { continuation in
        let known = state.withLock { state -> Bool? in
          if state.value == nil { state.waiter = continuation }
          return state.value
        }
        if let known { continuation.resume(returning: known) }
      }
    }
  }
}
