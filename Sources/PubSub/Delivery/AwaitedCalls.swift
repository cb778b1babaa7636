/// Which synchronous handlers are being called by posts that wait; of other posts the stores know.
///
/// Guarded by the bus's lock. Knows a subscription by the lower half of its identifier, which is all that a plain one keeps:
/// should two share it, a wait for the one is a wait for the other, too.
struct AwaitedCalls {
  private struct Calls {
    let id: UInt32
    var running = 1
    var idleActions: [@Sendable () -> Void] = []
  }

  /// One for each post under way, hardly ever more than two or three.
  private var calls: [Calls] = []

  mutating func begin(_ id: UInt64) {
    let id = UInt32(truncatingIfNeeded: id)
    if let index = calls.firstIndex(where: { $0.id == id }) {
      calls[index].running += 1
    } else {
      calls.append(Calls(id: id))
    }
  }

  /// Returns what is to be done when the last has returned.
  mutating func end(_ id: UInt64) -> [@Sendable () -> Void] {
    let id = UInt32(truncatingIfNeeded: id)
    guard let index = calls.firstIndex(where: { $0.id == id }) else { return [] }
    calls[index].running -= 1
    return calls[index].running == 0 ? calls.remove(at: index).idleActions : []
  }

  /// Keeps what is to be done when the last has returned; false if none is called.
  mutating func whenReturned(_ shortID: UInt32, _ action: @escaping @Sendable () -> Void) -> Bool {
    guard let index = calls.firstIndex(where: { $0.id == shortID }) else { return false }
    calls[index].idleActions.append(action)
    return true
  }
}
