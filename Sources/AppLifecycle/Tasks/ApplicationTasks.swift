internal import PubSub
internal import Scheduling

/// The tasks that belong to the application; adds each to the ledger when it has ended, and cancels them with the
/// process.
@MainActor final class ApplicationTasks {
  private struct Running {
    let source: EventBus.Subscriber
    let began: Duration
    /// Whether the task repeats an action, so that it does not end.
    let repeats: Bool
    /// The number of the task's call for observers.
    let call: TracedCall.ID?
    /// Whether an observer started the task, so that it is no event: its events would start the next task.
    let isOfObserver: Bool
    let cancel: @Sendable () -> Void
  }

  private let tasks: TaskStarter
  private let now: @Sendable () -> Duration
  /// The running tasks by number, which grows with each start.
  private var running: [UInt64: Running] = [:]
  /// The tasks that were cancelled with their process and have not ended.
  private var lost: [UInt64: Running] = [:]
  private var lastID: UInt64 = 0
  /// The application, whose ledger lists the tasks.
  var application: Application? { reference.application }
  private let reference: ApplicationReference

  init(of reference: ApplicationReference, tasks: TaskStarter, now: @escaping @Sendable () -> Duration) {
    (self.reference, self.tasks, self.now) = (reference, tasks, now)
  }

  /// The names of the tasks that have not ended, in the order in which they began.
  var names: [String] {
    (running.map { $0 } + lost.map { $0 }).sorted { $0.key < $1.key }.map { String(describing: $0.value.source) }
  }

  /// Whether a task runs that does not repeat an action.
  var hasWork: Bool { running.values.contains { !$0.repeats } }

  func start<Success: Sendable>(
    _ source: EventBus.Subscriber, repeats: Bool = false, _ body: @escaping @MainActor () async throws -> Success
  ) -> Task<Success, any Error> {
    lastID += 1
    let id = lastID
    let began = now()
    let isOfObserver = application?.observers.isCalling ?? false
    let call =
      isOfObserver ? nil : application?.callBegins(entry(source, began: began, .completed), isLongRunning: true)
    let intercepted =
      isOfObserver
      ? application?.interceptedCall(entry(source, began: began, .completed), isLongRunning: true)
      : application?.intercepted(call)
    let isInsideFailure = EventBus.isInsideFailure
    // A handler may start the task, but the transition that waits for the handler does not wait for the task.
    let task = tasks.startThrowing(for: source) { [weak self] in
      do {
        let value = try await intercepted.run { try await body() }
        self?.didEnd(id, Task.isCancelled ? .cancelled : .completed)
        return value
      } catch {
        self?.didThrow(id, source, error, isInsideFailure)
        throw error
      }
    }
    running[id] = Running(
      source: source, began: began, repeats: repeats, call: call?.id, isOfObserver: isOfObserver
    ) { task.cancel() }
    return task
  }

  /// Cancels the tasks, because the process has ended.
  ///
  /// The ledger lists each of them only once.
  func loseProcess() {
    // In the order in which they began, so that their reactions are repeatable.
    let lost = running.sorted { $0.key < $1.key }.map(\.value)
    self.lost.merge(running) { _, new in new }
    running = [:]
    for task in lost {
      note(task, .cutShort)
      task.cancel()
    }
  }

  private func didThrow(
    _ id: UInt64, _ source: EventBus.Subscriber, _ error: any Error, _ isInsideFailure: Bool
  ) {
    guard error.isFailure else { return didEnd(id, .cancelled) }
    let outcome = LedgerEntry.Outcome.failed(error.text)
    // A task that was cancelled with its process is in the ledger already, but not with its error.
    if let task = lost[id] {
      let isTold = !task.isOfObserver
      let call = isTold ? application?.callBegins(entry(source, began: task.began, .completed)) : nil
      note(entry(source, began: task.began, outcome), of: call?.id, isTold: isTold)
    }
    didEnd(id, outcome)
    application?.report(error, of: source, .task, hasRecipient: true, isInsideFailure: isInsideFailure)
  }

  /// Notes and reports an error of a periodic task that goes on.
  func periodicTaskDidThrow(_ error: any Error, _ source: EventBus.Subscriber, began: Duration) {
    var entry = LedgerEntry(
      .task, source, step: CallStep.every.rawValue, began: began, duration: now() - began, outcome: .completed)
    // For observers every end has a beginning.
    let call = application?.callBegins(entry)
    entry.outcome = .failed(error.text)
    application?.note(entry, of: call?.id)
    application?.report(error, of: source, .every, hasRecipient: true)
  }

  private func didEnd(_ id: UInt64, _ outcome: LedgerEntry.Outcome) {
    // A task that was cancelled with its process is in the ledger already.
    guard lost.removeValue(forKey: id) == nil, let task = running.removeValue(forKey: id) else { return }
    note(task, outcome)
    // A grace may end with it.
    if !task.repeats { application?.background.checkWaits() }
  }

  private func note(_ task: Running, _ outcome: LedgerEntry.Outcome) {
    note(entry(task.source, began: task.began, outcome), of: task.call, isTold: !task.isOfObserver)
  }

  private func note(_ entry: LedgerEntry, of call: TracedCall.ID?, isTold: Bool) {
    if isTold { application?.note(entry, of: call) } else { application?.noteOnly(entry) }
  }

  private func entry(_ source: EventBus.Subscriber, began: Duration, _ outcome: LedgerEntry.Outcome) -> LedgerEntry {
    LedgerEntry(.task, source, step: CallStep.task.rawValue, began: began, duration: now() - began, outcome: outcome)
  }
}
