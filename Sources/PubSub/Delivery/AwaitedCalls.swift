/// Which synchronous handlers are being called by posts that wait; of other posts the stores know.
///
/// Guarded by the bus's lock. Knows a subscription by the lower half of its identifier, which is all that a plain one keeps:
/// should two share it, who waits for the one waits for the other, too.
struct AwaitedCalls {
  private struct Calls {
    var running = 0
    var idleActions: [@Sendable () -> Void] = []
  }

  private var calls: [UInt32: Calls] = [:]

  mutating func begin(_ id: UInt64) { calls[UInt32(truncatingIfNeeded: id), default: Calls()].running += 1 }

  /// Returns what is to be done when the last has returned.
  mutating func end(_ id: UInt64) -> [@Sendable () -> Void] {
    let key = UInt32(truncatingIfNeeded: id)
    guard var ended = calls[key] else { return [] }
    ended.running -= 1
    calls[key] = ended.running == 0 ? nil : ended
    return ended.running == 0 ? ended.idleActions : []
  }

  /// Keeps what is to be done when the last has returned; false if none is called.
  mutating func whenReturned(_ shortID: UInt32, _ action: @escaping @Sendable () -> Void) -> Bool {
    guard var running = calls[shortID] else { return false }
    running.idleActions.append(action)
    calls[shortID] = running
    return true
  }
}
