/// The queue of one asynchronous handler: runs are serial and in posting order, and never block the poster.
///
/// A task a burst, none while idle.
final class Mailbox<Element: Sendable>: Sendable {
  private struct State {
    var queue: [Element] = []
    var isRunning = false
    var isClosed = false
  }

  private let state = Guarded(State())
  private let tasks: TaskStarter
  private let handle: @Sendable (Element) async -> Void

  init(tasks: TaskStarter, handle: @escaping @Sendable (Element) async -> Void) {
    self.tasks = tasks
    self.handle = handle
  }

  func push(_ element: Element) {
    let starts = state.withLock { state in
      if state.isClosed { return false }
      state.queue.append(element)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if starts { tasks.start { await self.run() } }
  }

  /// Drops what waits; the handler that runs goes on.
  func close() {
    // What is dropped is released outside the lock: its deinitialiser may call back.
    _ = state.withLock { state in
      state.isClosed = true
      defer { state.queue = [] }
      return state.queue
    }
  }

  private func run() async {
    while let batch = nextBatch() {
      for element in batch {
        if state.withLock({ $0.isClosed }) { break }
        await handle(element)
      }
    }
  }

  private func nextBatch() -> [Element]? {
    state.withLock { state in
      if state.queue.isEmpty {
        state.isRunning = false
        return nil
      }
      defer { state.queue = [] }
      return state.queue
    }
  }
}
