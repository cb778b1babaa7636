internal import PubSub
internal import Scheduling

/// Performs the operations of an ``OperationQueue``.
@MainActor protocol OperationPerformer: AnyObject {
  /// Performs the operations whose numbers `next` returns, one after another, until it returns nil.
  ///
  /// All in one call, because each further asynchronous function would cost as much as an operation.
  func performOperations(_ next: @MainActor () -> Int?) async
}

/// Runs the operations of managed resources concurrently, without a task for each operation that does not suspend.
///
/// One task performs the operations one after another. Behind it a spare task waits for the main actor. If the first
/// task suspends, the spare continues with the remaining operations, and creates a spare of its own. So operations that
/// suspend run concurrently, each in its own task, while a thousand operations that do not suspend cost two tasks.
/// ``performNow()`` runs the queued operations inline, so a thousand cost one task, and the caller does not wait for an
/// operation that suspends.
@MainActor final class OperationQueue {
  /// A task that performs operations.
  private final class Worker {
    /// The task; nil while it runs inline in its caller, before the first suspension.
    var task: Task<Void, Never>? { didSet { if isCancelled { task?.cancel() } } }
    private(set) var isCancelled = false

    func cancel() {
      isCancelled = true
      task?.cancel()
    }
  }

  private let tasks: TaskStarter
  /// Weak, because the performer retains the queue.
  private weak var performer: (any OperationPerformer)?
  // Each operation accesses these, and no access calls code that accesses them again.
  @exclusivity(unchecked) private var queue: [Int] = []
  @exclusivity(unchecked) private var head = 0
  /// The spare task that waits for the main actor; nil if there is none.
  private var spare: Worker?
  /// The worker of each running operation, by the operation's number.
  @exclusivity(unchecked) private var running: [Worker?] = []
  /// Whether a worker runs inline in its caller, which handles the remaining operations when the worker suspends.
  private var isPerformingNow = false
  /// Whether added operations wait for ``performNow()``, which the caller guarantees.
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
      worker.task = tasks.startImmediately { await self.work(worker) }
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
    worker.task = tasks.startOnMainActor {
      // The spare task has reached the main actor.
      self.spare = nil
      await self.work(worker)
    }
  }

  private func work(_ me: Worker) async {
    guard let performer else { return }
    var present: Int?
    await performer.performOperations {
      if let ended = present {
        // The process may have vanished, and another one may have begun.
        if ended < running.count, running[ended] === me { running[ended] = nil }
        // A cancelled task stays cancelled, so it must not perform other operations. One that still runs inline is
        // cancelled only when its caller has it.
        if me.isCancelled || Task.isCancelled { return nil }
      }
      present = takeNext()
      guard let next = present else { return nil }
      if head < queue.count, !isPerformingNow { startSpare() }
      running[next] = me
      return next
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
