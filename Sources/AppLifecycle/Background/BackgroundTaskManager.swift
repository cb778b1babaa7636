internal import PubSub

/// Performs what the application asks of the background, and lets the system's clock strike when there is something to do.
@MainActor final class BackgroundTaskManager {
  private let clock: ClockHandle
  private let starter: TaskStarter
  private var time: BackgroundTimeStateMachine
  /// The calls of those tasks whose beginning was observed.
  private var calls: [BackgroundTimeStateMachine.TaskID: TracedCall.ID] = [:]
  private var expirationHandlers: [BackgroundTimeStateMachine.TaskID: @MainActor () -> Void] = [:]
  /// What ``Application/performBackgroundTask(named:_:)`` runs, as long as an end may wait for it.
  private var operations: [BackgroundTimeStateMachine.TaskID: (task: Task<Void, Never>, run: AwaitedRun)] = [:]
  private let scope: WorkOwner
  /// Counts the processes; modes of an earlier one went with it.
  private var process = 0

  /// Whether the clocks of the background have consequences: they are the system's.
  private var isEnforced = false
  private var sleeper: Task<Void, Never>?
  /// The deadline until which the sleeper sleeps.
  private var deadline: Duration?
  /// A deadline has passed, and ``nextAction()`` has not been called yet.
  private var hasStruck = false

  /// The waits for the tasks to end: before the process is stopped, before the machine sleeps, or both.
  private var waiters: [UnsafeContinuation<Void, Never>] = []
  /// Counts how often that was taken back.
  private var takenBack = 0

  /// Is called when a deadline has passed.
  ///
  /// It has to call ``nextAction()`` between two transitions.
  var clockDidStrike: (@MainActor () -> Void)?
  /// Is passed the entry of a task that has ended.
  var didSpend: (@MainActor (LedgerEntry, _ call: TracedCall.ID?) -> Void)?
  /// Is called when a task begins; returns the number to which its end refers, if there are observers.
  var didBegin: (@MainActor (LedgerEntry) -> TracedCall.ID?)?
  /// Is called when a new stay has begun with the end of the last mode.
  var didBeginStay: (@MainActor (_ now: Duration, _ cause: LifecycleCause) -> Void)?
  /// Is passed what has to stand in the record, with the cause to use if nothing else led to it.
  var didReport: (@MainActor (LifecycleRecord.Kind, _ name: String, _ cause: LifecycleCause) -> Void)?

  init(
    configuration: Application.Configuration, clock: ClockHandle, starter: TaskStarter, scope: WorkOwner
  ) {
    (self.clock, self.starter, self.scope) = (clock, starter, scope)
    time = BackgroundTimeStateMachine(
      limits: .init(
        stay: configuration.backgroundStay, allowance: configuration.backgroundTaskAllowance,
        expirationLead: configuration.backgroundExpirationLead))
  }

  /// How long the application may still run; nil if that is not limited.
  var remaining: Duration? { time.remaining(at: clock.now()) }

  var hasOpenTasks: Bool { !time.tasks.isEmpty }

  /// The names of the open tasks, in order of begin.
  var openTasks: [String] { time.tasks.map(\.name) }

  func didCommit(_ state: ApplicationState) {
    let lost = state == .notRunning ? time.tasks : []
    time.didCommit(state, at: clock.now())
    // Only now: what is told of their ends may begin and end tasks.
    if state == .notRunning { loseProcess(lost) }
    setClock()
    endWait()
  }

  /// What belonged to the process is gone; no handler hears of it.
  ///
  /// - Parameter lost: the tasks that were open.
  func loseProcess(_ lost: [BackgroundTimeStateMachine.OpenTask] = []) {
    process += 1
    expirationHandlers = [:]
    // In order of begin: what they do about it has to be repeatable.
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
    named name: String, expirationHandler: @escaping @MainActor (BackgroundTask) -> Void
  ) -> BackgroundTask {
    let (id, isRefused) = time.beginTask(named: name, at: clock.now())
    let task = BackgroundTask(name: name, id: id, manager: self)
    if isRefused {
      noteRefusal(of: name)
      expirationHandler(task)
    } else {
      expirationHandlers[id] = { expirationHandler(task) }
      noteBegin(of: id)
      setClock()
    }
    return task
  }

  func perform(named name: String, _ operation: @escaping @MainActor () async -> Void) -> Task<Void, Never> {
    let (id, isRefused) = time.beginTask(named: name, at: clock.now())
    if isRefused { noteRefusal(of: name) }
    let task = BackgroundTask(name: name, id: id, manager: self)
    // Before the process ends this is waited for, and must not wait for that end itself.
    let run = AwaitedRun(of: scope, generation: process)
    let running = starter.startOnMainActor(for: Subscriber(label: "background task \(name)", fileID: "", line: 0)) {
      // One that was refused is part of whatever began it, and of nothing else.
      if isRefused { await operation() } else { await HandlerContext.with(run) { await operation() } }
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

  private func noteRefusal(of name: String) {
    // Code that outlives its process is refused without a word.
    guard time.hasProcess else { return }
    didReport?(.task, "refused:\(name)", LifecycleCause(rawValue: "task:begin:\(name)"))
  }

  func end(_ id: BackgroundTimeStateMachine.TaskID, name: String) {
    let task = time[id]
    let end = time.endTask(id)
    expirationHandlers[id] = nil
    let operation = operations.removeValue(forKey: id)
    operation?.run.isOver = true
    // An operation is cancelled at its expiration.
    if let task { noteTime(of: task, task.hasExpired && operation != nil ? .cancelled : .completed) }
    if end == .endedTwice {
      didReport?(.report, "taskEndedTwice:\(name)", LifecycleCause(rawValue: "task:end:\(name)"))
    }
    setClock()
    if time.tasks.isEmpty { endWait() }
  }

  private func noteBegin(of id: BackgroundTimeStateMachine.TaskID) {
    guard let task = time[id] else { return }
    calls[id] = didBegin?(LedgerEntry(.task, task.name, step: "backgroundTask", began: task.began, duration: .zero))
  }

  private func noteTime(of task: BackgroundTimeStateMachine.OpenTask, _ outcome: LedgerEntry.Outcome) {
    didSpend?(
      LedgerEntry(
        .task, task.name, step: "backgroundTask", began: task.began, duration: clock.now() - task.began,
        outcome: outcome), calls.removeValue(forKey: task.id))
  }

  func begin(_ mode: BackgroundMode) -> BackgroundModeAssertion {
    time.beginMode()
    setClock()
    return BackgroundModeAssertion(mode: mode, process: process, manager: self)
  }

  func end(_ mode: BackgroundMode, process: Int) {
    guard process == self.process else { return }
    let now = clock.now()
    if time.endMode(at: now) { didBeginStay?(now, LifecycleCause(rawValue: "mode:end:\(mode.rawValue)")) }
    setClock()
  }
}

// MARK: - The system's clock

extension BackgroundTaskManager {
  /// From now on the clocks have consequences.
  func enforce() {
    isEnforced = true
    setClock()
  }

  /// What is due first, if anything is; the caller performs it, and asks again.
  func nextAction() -> BackgroundTimeStateMachine.Action? {
    let action = time.nextAction(at: clock.now())
    if action == nil {
      hasStruck = false
      setClock()
    }
    return action
  }

  /// Calls a task's expiration handler, which says so in the record first.
  func expire(_ id: BackgroundTimeStateMachine.TaskID) {
    guard let name = time[id]?.name else { return }
    didReport?(.task, "expire:\(name)", "expire")
    expirationHandlers.removeValue(forKey: id)?()
  }

  /// Says of each task that was not ended in time that it never was.
  func noteUnended() {
    for task in time.giveUpTasks() {
      noteTime(of: task, .neverEnded)
      operations[task.id]?.run.isOver = true
    }
  }

  /// Sets the sleeper for the next deadline, or stops it if there is none.
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
    // It may have been called off between the wake-up and this call.
    guard !Task.isCancelled else { return }
    (sleeper, deadline, hasStruck) = (nil, nil, true)
    clockDidStrike?()
  }

  /// Stops the sleeper.
  func stopClock() {
    sleeper?.cancel()
    sleeper = nil
  }
}

// MARK: - Before the process is stopped, or ends

extension BackgroundTaskManager {
  /// Gives the open tasks until then to end, in the background, as the process is about to be stopped or to end.
  ///
  /// At half time the expiration handlers of those that are still open are called, as the system's clock would.
  ///
  /// - Returns: the names of those that are open still, in order of begin; none where the application has come back.
  func finishTasks(by deadline: Duration) async -> [String] {
    let order = takenBack
    let now = clock.now()
    await waitForTasks(until: now + max(.zero, deadline - now) / 2, order)
    // Under a mode nothing is refused: handlers that begin anew would never come to an end.
    let last = time.tasks.last?.id ?? -1
    // Where all have ended nothing expires, which would have further tasks refused.
    while mustFinish(order), !time.tasks.isEmpty, let id = time.expireNext(notAfter: last) { expire(id) }
    await waitForTasks(until: deadline, order)
    return mustFinish(order) ? time.tasks.map(\.name) : []
  }

  /// The process is not stopped after all.
  func stopFinishingTasks() {
    takenBack += 1
    endWait()
  }

  /// Whether the tasks have to end: the order was not taken back, and the application has not come back.
  private func mustFinish(_ order: Int) -> Bool { order == takenBack && time.isInBackground }

  /// Waits until no task is open any more, a state is committed, or an instant has come.
  private func waitForTasks(until deadline: Duration, _ order: Int) async {
    // This wait also ends when another wait, with an earlier deadline, ends.
    while mustFinish(order), !time.tasks.isEmpty, clock.now() < deadline {
      let timer = starter.startOnMainActor { [clock, weak self] in
        guard (try? await clock.sleepUntil(deadline)) != nil else { return }
        self?.timeIsUp()
      }
      await withUnsafeContinuation { waiters.append($0) }
      timer.cancel()
    }
  }

  private func timeIsUp() {
    // The wait may have ended between the wake-up and this call, and another begun.
    guard !Task.isCancelled else { return }
    endWait()
  }

  private func endWait() {
    for waiter in waiters { waiter.resume() }
    waiters = []
  }
}
