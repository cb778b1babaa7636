import PubSub

/// Brings what the host thread has for the main actor there, in order.
///
/// The one place where the hosts make tasks.
final class MainActorMailbox: Sendable {
  typealias Work = @MainActor @Sendable () async -> Void

  private let items = Guarded<[Work]>([])

  /// Adds work; never waits.
  func send(_ work: @escaping Work) {
    items.withLock { $0.append(work) }
    // A task for each: an input that waits for a tear-down must not hold up the one that cancels it. Each takes the oldest
    // work, and that hands an input to the application before it first waits; so the order is that of sending, whichever of
    // the tasks runs first.
    Task { @MainActor in await self.performNext() }
  }

  @MainActor private func performNext() async { await items.withLock { $0.removeFirst() }() }
}
