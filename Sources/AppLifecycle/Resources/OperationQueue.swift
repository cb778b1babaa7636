internal import PubSub

/// Performs the operations of an ``OperationQueue``.
@MainActor protocol OperationPerformer: AnyObject {
  /// Performs the operation of a number.
  func performOperation(_ number: Int) async
}

/// Runs the operations of managed resources side by side, without a task for each that returns without suspending.
///
/// One task takes operation after operation. Behind it a spare task is on its way to the main actor: it gets there only if the
/// first one suspends, and then goes on with what is left, with a spare of its own behind it. Operations that suspend so run
/// side by side, a task for each; of those that do not, a thousand cost two tasks. ``performNow()`` runs the queued operations
/// inline, so a thousand cost one task, and the caller waits for none.
@MainActor final class OperationQueue {
  /// A task that performs operations.
  private final class Worker {
    /// Nil while the task runs inline in its caller, before the first suspension.
    var task: Task<Void, Never>? { didSet { if isCancelled { task?.cancel() } } }
    private var isCancelled = false

    func cancel() {
      isCancelled = true
      task?.cancel()
    }
  }

  private let tasks: TaskStarter
  /// Weak, as it keeps the queue.
  private weak var performer: (any OperationPerformer)?
  private var queue: [Int] = []
  private var head = 0
  /// On its way; nil if none is.
  private var spare: Worker?
  /// The worker of each operation that has begun, by the operation's number.
  private var running: [Worker?] = []
  /// Whether a worker runs inline in its caller, which sees to the remaining operations when the worker suspends.
  private var isPerformingNow = false
  /// Whether what is added waits for ``performNow()``, which is sure to come.
  private var waits = false

  init(tasks: TaskStarter, performer: any OperationPerformer) {
    self.tasks = tasks
    self.performer = performer
  }

  /// Adds an operation, which begins as soon as the main actor is free, or with ``performNow()``.
  func add(_ operation: Int) {
    queue.append(operation)
    while running.count <= operation { running.append(nil) }
    if !waits { startSpare() }
  }

  /// Makes operations that are added from now on wait for ``performNow()``.
  func holdBack() { waits = true }

  /// Performs the queued operations: inline until one suspends, the others as soon as the main actor is free.
  func performNow(orLater: Bool = false) {
    waits = false
    guard head < queue.count, !isPerformingNow else { return }
    if !orLater {
      let worker = Worker()
      isPerformingNow = true
      worker.task = HandlerContext.outside { tasks.startImmediately { await self.work(worker) } }
      isPerformingNow = false
    }
    if head < queue.count { startSpare() }
  }

  /// Cancels an operation that has begun.
  func cancel(_ operation: Int) { if operation < running.count { running[operation]?.cancel() } }

  /// Removes the operations that have not begun, and cancels those that have.
  func removeAll() {
    (queue, head) = ([], 0)
    let former = running
    running = []
    for worker in former { worker?.cancel() }
  }

  private func startSpare() {
    guard spare == nil else { return }
    let worker = Worker()
    spare = worker
    worker.task = HandlerContext.outside {
      tasks.startOnMainActor {
        // It has arrived.
        self.spare = nil
        await self.work(worker)
      }
    }
  }

  private func work(_ me: Worker) async {
    guard let performer else { return }
    while let next = takeNext() {
      if head < queue.count, !isPerformingNow { startSpare() }
      running[next] = me
      await performer.performOperation(next)
      // The process may have vanished, and another begun.
      if next < running.count, running[next] === me { running[next] = nil }
      // A cancelled task stays so; the others are not to be cancelled with it.
      if Task.isCancelled { break }
    }
    if head < queue.count, !isPerformingNow { startSpare() }
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
