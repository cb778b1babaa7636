internal import PubSub

/// The inputs of an application that wait for their turn, and the task that works on them.
///
/// One task runs all of them, one transition after another. If the queue is empty and no task works on it, the task that sends an input
/// runs it itself, which saves two changes of tasks.
final class Inbox: Sendable {
  private let queue = Guarded(InputQueue())
  private let tasks: TaskStarter
  /// The priority at which queued inputs run: that of the code that made the application, whatever the senders have.
  private let priority = Task.currentPriority

  init(tasks: TaskStarter) { self.tasks = tasks }

  /// Whether nothing waits.
  var isEmpty: Bool { queue.withLock { $0.isEmpty } }

  // MARK: Adding

  /// Adds an element, and starts a task that works on the queue if there is none; may be called from any thread.
  func add(_ element: InputQueue.Element, for application: Application) {
    let mustStart = queue.withLock { $0.add(element) }
    if mustStart {
      startWorkingOff(for: application)
    } else if case .input(let pending) = element, pending.input.mayBringToForeground {
      // It may have to hurry the tear-down that is being awaited.
      tasks.startOnMainActor { self.hurryTearDownIfReturning(of: application) }
    }
  }

  /// Cancels the tear-down if a waiting input brings the application back.
  ///
  /// It is awaited all the same.
  @MainActor func hurryTearDownIfReturning(of application: Application) {
    // Where one of several scenes has left, the application has not, and cannot come back.
    guard application.tearDown.isAwaited, !application.present.state.isForeground else { return }
    if application.transitions.comesBack(with: queue.withLock { $0.inputs }) { application.tearDown.hurry() }
  }

  // MARK: Working

  /// Begins a turn of the caller's own, if the queue is empty and no task works on it.
  ///
  /// - Returns: whether the turn has begun; the caller ends it.
  func beginOwnTurn() -> Bool { queue.withLock { $0.beginOwnTurn() } }

  /// Ends the caller's own turn, and starts a task for what has arrived meanwhile.
  func endOwnTurn(for application: Application) {
    if queue.withLock({ $0.endOwnTurn() }) { startWorkingOff(for: application) }
  }

  /// The transitions belong to no sender, though one has sent the first input.
  private func startWorkingOff(for application: Application) {
    tasks.startDetachedOnMainActor(priority: priority) { await self.workOff(for: application) }
  }

  @MainActor private func workOff(for application: Application) async {
    while let next = queue.withLock({ $0.next() }) {
      switch next {
      case .input(let pending):
        guard let report = await take(pending, of: application) else { continue }
        pending.answer(report)
        for input in pending.question?.inputs ?? [] { input.answer(report) }
      case .backgroundClock: await application.passBackgroundTime()
      }
    }
  }

  /// Takes an input in its turn.
  ///
  /// - Returns: what became of it; nil if it was put aside until the delegate has answered, and the question answers its sender.
  @MainActor private func take(_ pending: PendingInput, of application: Application) async -> TransitionReport? {
    let questions = application.questions
    if let answered = pending.question {
      guard questions.beginEnd(after: answered, of: application) else { return nil }
    } else if pending.input == .terminate, application.present.state.runsCode {
      return await questions.take(pending, of: application)
    }
    return await TransitionRun(pending, of: application).perform()
  }
}

extension SystemInput {
  /// Whether the input can bring an application into the foreground at all.
  fileprivate var mayBringToForeground: Bool {
    switch self {
    case .launch, .open, .openScene, .unlock: true
    default: false
    }
  }
}
