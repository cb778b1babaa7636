internal import PubSub
internal import Scheduling

/// Performs background tasks and modes, and calls back when one of the system's time limits has passed.
@MainActor final class BackgroundTaskManager {
  /// The clock of the limits, which stands still while the process does.
  private let clock: ClockHandle
  /// Returns the time of the application's clock, for the ledger.
  private let elapsed: @Sendable () -> Duration
  private let starter: TaskStarter
  private var time: BackgroundTimeStateMachine
  /// The calls of the tasks whose beginning observers have received.
  private var calls: [BackgroundTimeStateMachine.TaskID: TracedCall.ID] = [:]
  private var expirationHandlers: [BackgroundTimeStateMachine.TaskID: @MainActor () -> Void] = [:]
  /// The operations of ``Application/performBackgroundTask(named:_:)`` for which an end of the application may wait.
  private var operations: [BackgroundTimeStateMachine.TaskID: (task: Task<Void, Never>, run: AwaitedRun)] = [:]
  private let scope: WorkOwner
  /// The refused tasks whose handlers have not been called.
  private var refusals = RefusedTasks()
  /// The number of the process; modes of an earlier process ended with it.
  private var process = 0

  /// Whether the time limits are enforced, as in a simulated system.
  private var isEnforced = false
  private var sleeper: Task<Void, Never>?
  /// The deadline of the sleeping task.
  private var deadline: Duration?
  /// Whether a deadline has passed and ``nextAction()`` has not been called yet.
  private var hasStruck = false

  /// The waits for the end of the tasks: before the process is stopped, before the machine sleeps, or both.
  private var waiters: [OneShot] = []

  /// Called when a deadline has passed.
  ///
  /// The closure must call ``nextAction()`` between two transitions.
  var clockDidStrike: (@MainActor () -> Void)?
  /// Called with the ledger entry of a task that has ended.
  var didSpend: (@MainActor (LedgerEntry, _ call: TracedCall.ID?) -> Void)?
  /// Called when a task begins; returns the number to which its end refers, if there are observers.
  var didBegin: (@MainActor (LedgerEntry) -> TracedCall.ID?)?
  /// Called when the end of the last mode has begun a new stay.
  var didBeginStay: (@MainActor (_ now: Duration, _ cause: LifecycleCause) -> Void)?
  /// Called with the kind and name of a record, and with its cause if no transition is its cause.
  var didReport: (@MainActor (LifecycleRecord.Kind, _ name: String, _ cause: LifecycleCause) -> Void)?

  init(
    configuration: Application.Configuration, clock: ClockHandle, elapsed: @escaping @Sendable () -> Duration,
    starter: TaskStarter, scope: WorkOwner
  ) {
    (self.clock, self.elapsed, self.starter, self.scope) = (clock, elapsed, starter, scope)
    time = BackgroundTimeStateMachine(
      limits: .init(
        stay: configuration.backgroundStay, allowance: configuration.backgroundTaskAllowance,
        expirationLead: configuration.backgroundExpirationLead))
  }

  /// The time that the application may still run; nil if it is not limited.
  var remaining: Duration? { time.remaining(at: clock.now()) }

  var hasOpenTasks: Bool { !time.tasks.isEmpty }

  /// The names of the open tasks, in the order in which they began.
  var openTasks: [String] { time.tasks.map(\.name) }

  func didCommit(_ state: ApplicationState) {
    let lost = state == .notRunning ? time.tasks : []
    time.didCommit(state, at: clock.now())
    refusals.begin()
    // Last, because the callbacks for the ends of tasks may begin and end tasks.
    if state == .notRunning { loseProcess(lost) }
    setClock()
    endWait()
  }

  /// Ends the limits of the stay, because the application is about to enter the foreground.
  func willEnterForeground() {
    time.willEnterForeground()
    setClock()
  }

  /// Drops the tasks and modes of the process without calling handlers.
  ///
  /// - Parameter lost: the tasks that were open.
  func loseProcess(_ lost: [BackgroundTimeStateMachine.OpenTask] = []) {
    process += 1
    expirationHandlers = [:]
    // In the order in which they began, so that their reactions are repeatable.
    let stopped = operations.sorted { $0.key < $1.key }.map(\.value)
    operations = [:]
    for operation in stopped {
      operation.task.cancel()
      operation.run.isOver = true
    }
    for task in lost { noteTime(of: task, .cutShort) }
  }
}

// MARK: - Tasks and modes

extension BackgroundTaskManager {
  func begin(
    named name: String, expirationHandler: @escaping @MainActor (Application.BackgroundTask) -> Void
  ) -> Application.BackgroundTask {
    let (id, isRefused) = time.beginTask(named: name, at: elapsed())
    let task = Application.BackgroundTask(name: name, id: id, manager: self)
    if isRefused {
      guard noteRefusal(of: name) else { return task }
      refusals.add(id) { expirationHandler(task) }
      // The caller may need the task that this method returns, so it must have returned before the call.
      starter.startOnMainActor { [weak self] in self?.callRefusedTasks() }
    } else {
      expirationHandlers[id] = { expirationHandler(task) }
      noteBegin(of: id)
      setClock()
    }
    return task
  }

  func perform(named name: String, _ operation: @escaping @MainActor () async -> Void) -> Task<Void, Never> {
    let (id, isRefused) = time.beginTask(named: name, at: elapsed())
    let isCalled = !isRefused || noteRefusal(of: name)
    let task = Application.BackgroundTask(name: name, id: id, manager: self)
    // The end of the process waits for the operation, so the operation must not wait for that end.
    let run = AwaitedRun(of: scope, generation: process)
    // No end waits for a refused operation, but the handler that starts it may, so it keeps that handler's context.
    let context = HandlerContext.current
    let running = starter.startOnMainActor(
      for: EventBus.Subscriber(label: "background task \(name)", fileID: "", line: 0)
    ) {
      if !isRefused {
        await HandlerContext.with(run) { await operation() }
      } else if isCalled {
        await HandlerContext.with(context) { await operation() }
      }
      task.end()
    }
    if isRefused {
      running.cancel()
    } else {
      operations[id] = (running, run)
      expirationHandlers[id] = { running.cancel() }
      noteBegin(of: id)
      setClock()
    }
    return running
  }

  /// Records that a task is refused.
  ///
  /// - Returns: whether to call its handler or operation: false if tasks are begun without end.
  private func noteRefusal(of name: String) -> Bool {
    let cause = LifecycleCause(rawValue: "task:begin:\(name)")
    // A task of code that outlives its process is refused without a record.
    if time.hasProcess { didReport?(.task, "refused:\(name)", cause) }
    switch refusals.note() {
    case .isCalled: return true
    case .isFirstTooMany: didReport?(.report, LifecycleReport(.refusedEndlessly, name).recordName, cause)
    case .isTooMany: break
    }
    return false
  }

  /// Calls the handlers of the refused tasks, and of the tasks that these handlers begin, one after another.
  private func callRefusedTasks() {
    while let handler = refusals.next() { handler() }
  }

  func end(_ id: BackgroundTimeStateMachine.TaskID, name: String) {
    let task = time[id]
    let end = time.endTask(id)
    expirationHandlers[id] = nil
    refusals.remove(id)
    let operation = operations.removeValue(forKey: id)
    operation?.run.isOver = true
    // An operation is cancelled at its expiration.
    if let task { noteTime(of: task, task.hasExpired && operation != nil ? .cancelled : .completed) }
    if end == .endedTwice {
      didReport?(
        .report, LifecycleReport(.taskEndedTwice, name).recordName, LifecycleCause(rawValue: "task:end:\(name)"))
    }
    setClock()
    if time.tasks.isEmpty { endWait() }
  }

  private func noteBegin(of id: BackgroundTimeStateMachine.TaskID) {
    guard let task = time[id] else { return }
    calls[id] = didBegin?(
      LedgerEntry(.task, task.name, step: CallStep.backgroundTask.rawValue, began: task.began, duration: .zero))
  }

  private func noteTime(of task: BackgroundTimeStateMachine.OpenTask, _ outcome: LedgerEntry.Outcome) {
    didSpend?(
      LedgerEntry(
        .task, task.name, step: CallStep.backgroundTask.rawValue, began: task.began, duration: elapsed() - task.began,
        outcome: outcome), calls.removeValue(forKey: task.id))
  }

  func begin(_ mode: BackgroundMode) -> BackgroundModeAssertion {
    time.beginMode()
    setClock()
    return BackgroundModeAssertion(mode: mode, process: process, manager: self)
  }

  func end(_ mode: BackgroundMode, process: Int) {
    guard process == self.process else { return }
    if time.endMode(at: clock.now()) {
      didBeginStay?(elapsed(), LifecycleCause(rawValue: "mode:end:\(mode.rawValue)"))
    }
    setClock()
  }
}

// MARK: - The system's clock

extension BackgroundTaskManager {
  /// Enforces the time limits from now on.
  func enforce() {
    isEnforced = true
    setClock()
  }

  /// Returns the first action that is due, or nil; the caller performs it and calls this again.
  func nextAction() -> BackgroundTimeStateMachine.Action? {
    let action = time.nextAction(at: clock.now())
    if action == nil {
      hasStruck = false
      setClock()
    }
    return action
  }

  /// Calls a task's expiration handler, after a record of the expiration.
  func expire(_ id: BackgroundTimeStateMachine.TaskID) {
    guard let name = time[id]?.name else { return }
    didReport?(.task, "expire:\(name)", "expire")
    expirationHandlers.removeValue(forKey: id)?()
    // The process may end soon, so the handlers of tasks that this one began do not wait for their own turn.
    callRefusedTasks()
  }

  /// Notes in the ledger each task that was not ended in time.
  func noteUnended() {
    for task in time.giveUpTasks() {
      noteTime(of: task, .neverEnded)
      operations[task.id]?.run.isOver = true
    }
  }

  /// Starts a task that sleeps until the next deadline; stops the sleeping task if there is no deadline.
  private func setClock() {
    let next = isEnforced && !hasStruck ? time.nextDeadline : nil
    guard next != deadline else { return }
    deadline = next
    sleeper?.cancel()
    sleeper = next.map { next in
      starter.startOnMainActor { [clock, weak self] in
        guard (try? await clock.sleepUntil(next)) != nil else { return }
        self?.strike()
      }
    }
  }

  private func strike() {
    // The sleep may have been cancelled between the wake-up and this call.
    guard !Task.isCancelled else { return }
    (sleeper, deadline, hasStruck) = (nil, nil, true)
    clockDidStrike?()
  }

  /// Cancels the sleeping task.
  func stopClock() {
    sleeper?.cancel()
    sleeper = nil
  }
}

// MARK: - Before the process is stopped, or ends

extension BackgroundTaskManager {
  /// Waits until a deadline for the open tasks to end, because the process is about to be stopped or to end.
  ///
  /// After half of the time it calls the expiration handlers of the tasks that are still open, as the system does.
  ///
  /// - Parameters:
  ///   - deadline: the end of the wait.
  ///   - isWanted: whether the tasks must still end; read again at each ``checkWaits()``.
  /// - Returns: the names of the tasks that are still open after their time, in the order in which they began; empty if
  ///   the wait was no longer wanted, or the application is not in the background.
  func finishTasks(
    by deadline: Duration, while isWanted: @escaping @MainActor () -> Bool = { true }
  ) async -> [String] {
    func mustFinish() -> Bool { isWanted() && time.isInBackground }
    let now = clock.now()
    await waitForTasks(until: now + max(.zero, deadline - now) / 2, while: mustFinish)
    // While a mode lasts, no task is refused, so handlers that begin new tasks could go on for ever: expire only the
    // tasks up to this one.
    let last = time.tasks.last?.id ?? -1
    // Stop when all have ended: an expiration would make the state machine refuse further tasks.
    while mustFinish(), !time.tasks.isEmpty, let id = time.expireNext(notAfter: last) { expire(id) }
    await waitForTasks(until: deadline, while: mustFinish)
    return mustFinish() ? openTasks : []
  }

  /// Lets each wait find out whether it is still wanted.
  func checkWaits() { endWait() }

  /// Waits until no task is open, the wait is no longer wanted, or a deadline has passed.
  private func waitForTasks(until deadline: Duration, while mustFinish: @MainActor () -> Bool) async {
    // This wait also ends when another wait, with an earlier deadline, ends.
    while mustFinish(), !time.tasks.isEmpty, clock.now() < deadline {
      let timer = starter.startOnMainActor { [clock, starter, weak self] in
        guard await starter.waitOnMainActor({ (try? await clock.sleepUntil(deadline)) != nil }) else { return }
        self?.timeIsUp()
      }
      let wait = OneShot()
      waiters.append(wait)
      _ = await starter.waitOnMainActor { await wait.value }
      timer.cancel()
    }
  }

  private func timeIsUp() {
    // The wait may have ended between the wake-up and this call, and another one may have begun.
    guard !Task.isCancelled else { return }
    endWait()
  }

  private func endWait() {
    for wait in waiters { wait.settle(true) }
    waiters = []
  }
}
