internal import Scheduling

/// The inputs of an application that wait for their turn, and the task that works on them.
///
/// One task runs all inputs, one transition after another. If the queue is empty and no task works on it, the task that
/// sends an input runs it itself. That saves two task switches.
final class Inbox: Sendable {
  private let queue = Guarded(InputQueue())
  private let tasks: TaskStarter
  /// The priority at which queued inputs run: that of the code that created the application, not that of the senders.
  private let priority = Task.currentPriority

  init(tasks: TaskStarter) { self.tasks = tasks }

  /// Whether no input waits.
  var isEmpty: Bool { queue.withLock { $0.isEmpty } }

  // MARK: Adding

  /// Adds an element, and starts a task that works on the queue if there is none; any thread may call it.
  func add(_ element: InputQueue.Element, for application: Application) {
    let (mustStart, revokes) = queue.withLock { $0.add(element) }
    if revokes { tasks.startOnMainActor { application.background.checkWaits() } }
    if mustStart {
      startWorkingOff(for: application)
    } else if case .input(let pending) = element, pending.input.traits.contains(.mayBringToForeground) {
      // This input may bring the application back; then a tear-down for which a transition waits must be cancelled.
      tasks.startOnMainActor { self.hurryTearDownIfReturning(of: application) }
    }
  }

  /// Cancels the tear-down if a waiting input brings the application back.
  ///
  /// The transition still waits for the end of the tear-down.
  @MainActor func hurryTearDownIfReturning(of application: Application) {
    // With several scenes, one may have closed while the application stays in the foreground: it does not return.
    guard application.tearDown.isAwaited, !application.present.state.isForeground else { return }
    if application.transitions.comesBack(with: queue.withLock { $0.inputs }) { application.tearDown.hurry() }
  }

  // MARK: Suspensions

  /// Begins a suspension, and queues its first input.
  ///
  /// - Returns: a number with which to ask whether the suspension was revoked.
  func beginSuspension(with home: PendingInput, for application: Application) -> Int {
    let (order, mustStart) = queue.withLock { $0.beginSuspension(with: home) }
    if mustStart { startWorkingOff(for: application) }
    return order
  }

  /// Whether an input that revokes a suspension has arrived since it began.
  func hasRevokedSuspension(since order: Int) -> Bool { queue.withLock { $0.revocations != order } }

  /// Whether a suspension has begun and was not revoked.
  var hasBegunSuspension: Bool { queue.withLock { $0.hasBegunSuspension } }

  /// Revokes the suspensions that have begun.
  func revokeSuspensions() { queue.withLock { $0.revokeSuspensions() } }

  /// Queues the last input of a suspension unless the suspension was revoked.
  ///
  /// - Returns: whether the input is queued. It may still be revoked before its turn.
  func endSuspension(with suspend: PendingInput, for application: Application) -> Bool {
    guard let mustStart = queue.withLock({ $0.endSuspension(with: suspend) }) else { return false }
    if mustStart { startWorkingOff(for: application) }
    return true
  }

  // MARK: Working

  /// Lets the caller run an input itself, if the queue is empty and no task works on it.
  ///
  /// - Returns: whether the caller may run its input; it must then call ``endOwnTurn(for:)``.
  func beginOwnTurn() -> Bool { queue.withLock { $0.beginOwnTurn() } }

  /// Ends the caller's own turn, and starts a task for the inputs that have arrived meanwhile.
  func endOwnTurn(for application: Application) {
    if queue.withLock({ $0.endOwnTurn() }) { startWorkingOff(for: application) }
  }

  /// Starts a task: the transitions belong to no sender, although one sender's input starts the task.
  private func startWorkingOff(for application: Application) {
    tasks.startOnMainActor(priority: priority) { await self.workOff(for: application) }
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

  /// Runs an input, or sets it aside.
  ///
  /// - Returns: the outcome; nil if the input is set aside until the delegate has answered, or if its question is over.
  ///   The question then answers the sender.
  @MainActor private func take(_ pending: PendingInput, of application: Application) async -> TransitionReport? {
    if let order = pending.suspension, !queue.withLock({ $0.takeSuspension(since: order) }) {
      // What the input that revoked it starts needs its tasks.
      application.background.reopen(after: order)
      let state = application.present.state
      return TransitionReport(
        outcome: .ignored(reason: .alreadyAwake), cause: pending.cause, from: state, to: state)
    }
    await application.wake(for: pending)
    let questions = application.questions
    if let answered = pending.question {
      guard questions.beginEnd(after: answered, of: application) else { return nil }
    } else if pending.input == .system(.terminate), application.present.state.runsCode {
      return await questions.take(pending, of: application)
    }
    return await TransitionRun(pending, of: application).perform()
  }
}
