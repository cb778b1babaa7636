import PubSub
import Scheduling

/// Runs work of the host's thread on the main actor, in order.
///
/// This is the only place where the hosts create tasks. The work must wait with `waitOnMainActor`, so that it needs no
/// thread of the global pool.
final class MainActorMailbox: Sendable {
  typealias Work = @MainActor @Sendable () async -> Void

  private struct Items {
    var added: [Work] = []
    /// The oldest, the very oldest last.
    var next: [Work] = []

    /// - Complexity: constant on average; a full backlog of input has tens of thousands.
    mutating func takeOldest() -> Work {
      if next.isEmpty {
        next = added.reversed()
        added = []
      }
      return next.removeLast()
    }
  }

  private let items = Guarded(Items())

  /// Adds work; never waits.
  func send(_ work: @escaping Work) {
    items.withLock { $0.added.append(work) }
    // Each piece of work has its own task, because an input that waits for a tear-down must not delay the input that
    // cancels it. Each task takes the oldest work, which passes its input to the application before it first waits. So
    // the inputs arrive in the order of sending, whichever task runs first.
    TaskStarter().startOnMainActor { await self.performNext() }
  }

  @MainActor private func performNext() async { await items.withLock { $0.takeOldest() }() }
}
