internal import PubSub

/// Runs the operations of managed resources side by side, without a task for each that returns without suspending.
///
/// One task takes operation after operation. Behind it a spare task is on its way to the main actor: it gets there only if the
/// first one suspends, and then goes on with what is left, with a spare of its own behind it. Operations that suspend so run
/// side by side, a task for each; of those that do not, a thousand cost two tasks.
@MainActor final class OperationQueue {
  private let tasks: TaskStarter
  private let perform: @MainActor (Int) async -> Void
  private var queue: [Int] = []
  private var head = 0
  /// On its way; nil if none is.
  private var spare: Task<Void, Never>?
  /// The task in which each operation runs that has begun.
  private var running: [Int: Task<Void, Never>] = [:]

  init(tasks: TaskStarter, perform: @escaping @MainActor (Int) async -> Void) {
    self.tasks = tasks
    self.perform = perform
  }

  /// Has an operation begin as soon as the main actor is free.
  func add(_ operation: Int) {
    queue.append(operation)
    startSpare()
  }

  /// Cancels an operation that has begun.
  func cancel(_ operation: Int) { running[operation]?.cancel() }

  /// Forgets what has not begun, and cancels what has.
  func removeAll() {
    (queue, head) = ([], 0)
    // In an order that does not depend on hashes: what follows a cancellation is to be repeatable.
    for operation in running.keys.sorted() { running[operation]?.cancel() }
    running = [:]
  }

  private func startSpare() {
    guard spare == nil else { return }
    spare = tasks.start { await self.work() }
  }

  private func work() async {
    // The one on its way has arrived.
    guard let me = spare else { return }
    spare = nil
    while let next = takeNext() {
      if head < queue.count { startSpare() }
      running[next] = me
      await perform(next)
      if running[next] == me { running[next] = nil }
      // A cancelled task stays so; the others are not to be cancelled with it.
      if Task.isCancelled { break }
    }
    if head < queue.count { startSpare() }
  }

  private func takeNext() -> Int? {
    guard head < queue.count else {
      queue.removeAll(keepingCapacity: true)
      head = 0
      return nil
    }
    defer { head += 1 }
    return queue[head]
  }
}
