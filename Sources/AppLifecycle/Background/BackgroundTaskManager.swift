internal import PubSub
internal import Scheduling

/// Performs background tasks and modes, and tells the application when one of the system's time limits has passed.
///
/// Any thread begins and ends tasks. One lock guards the decisions and the news of them, so that the news has the order
/// of the calls. The main actor tells the news: before the call returns if the caller runs on the main actor, otherwise
/// soon after. Each method that acts on a task tells the news first.
@MainActor final class BackgroundTaskManager {
  /// The clock of the limits, which stands still while the process does.
  private nonisolated let clock: ClockHandle
  /// Returns the time of the application's clock, for the ledger.
  private nonisolated let elapsed: @Sendable () -> Duration
  private nonisolated let starter: TaskStarter
  private nonisolated let scope: WorkScope
  private nonisolated let state: Guarded<BackgroundTasks>
  /// The calls of the tasks whose beginning observers have received.
  private var calls: [BackgroundTimeStateMachine.TaskID: TracedCall] = [:]

  /// Whether the time limits are enforced, as in a simulated system.
  private var isEnforced = false
  private var sleeper: Task<Void, Never>?
  /// The deadline of the sleeping task.
  private var deadline: Duration?
  /// Whether a deadline has passed and ``nextAction()`` has not been called yet.
  private var hasStruck = false

  /// The grace of the present stay.
  var grace: GracePeriod
  /// Whether observers are told of news at present.
  private(set) var isTelling = false
  /// The waits for the end of the tasks: before the process is stopped, before the machine sleeps, or both.
  private var waiters: [OneShot<Bool>] = []

  /// The application whose background this is.
  var application: Application? { reference.application }
  private let reference: ApplicationReference

  init(
    of reference: ApplicationReference, configuration: Application.Configuration, clock: ClockHandle,
    elapsed: @escaping @Sendable () -> Duration, starter: TaskStarter, scope: WorkScope
  ) {
    self.reference = reference
    (self.clock, self.elapsed, self.starter, self.scope) = (clock, elapsed, starter, scope)
    grace = GracePeriod(configuration)
    state = Guarded(
      BackgroundTasks(
        limits: .init(
          stay: min(configuration.backgroundStay, .century),
          allowance: min(configuration.backgroundTaskAllowance, .century),
          expirationLead: configuration.backgroundExpirationLead)))
  }

  /// The time that the application may still run; nil if it is not limited.
  nonisolated var remaining: Duration? {
    let now = clock.now()
    return state.withLock { $0.time.remaining(at: now) }
  }

  nonisolated var hasOpenTasks: Bool { state.withLock { !$0.time.tasks.isEmpty } }

  /// The names of the open tasks, in the order in which they began.
  nonisolated var openTasks: [String] { state.withLock { $0.time.tasks.map(\.name) } }

  func didCommit(_ next: ApplicationState) {
    let (now, elapsed) = (clock.now(), elapsed())
    grace.didCommit(next, at: now)
    drop(state.withLock { $0.didCommit(next, at: now, elapsed: elapsed) })
    // Last, because the callbacks for the ends of tasks may begin and end tasks.
    tellNews()
    endWait()
  }

  /// Ends the limits of the stay, because the application is about to enter the foreground.
  func willEnterForeground() {
    state.withLock { $0.time.willEnterForeground() }
    setClock()
  }

  /// Drops the tasks and modes of the process without calling handlers.
  func loseProcess() { drop(state.withLock { $0.loseProcess() }) }

  private func drop(_ remains: BackgroundTasks.Remains) {
    for operation in remains.operations {
      operation.cancel()
      operation.run.isOver = true
    }
  }
}

// MARK: - Tasks and modes

extension BackgroundTaskManager {
  nonisolated func begin(
    named name: String, expirationHandler: @escaping @MainActor (Application.BackgroundTask) -> Void
  ) -> Application.BackgroundTask {
    let now = elapsed()
    let (task, mustCall) = state.withLock { state in
      let begun = state.begin(named: name, at: now)
      let task = Application.BackgroundTask(name: name, begun, manager: self)
      if begun.isCalled { state.set({ expirationHandler(task) }, for: begun) }
      return (task, begun.isRefused && begun.isCalled)
    }
    // The caller may need the task that this method returns, so it must have returned before the call.
    if mustCall, mayStartTasks { starter.startOnMainActor { [weak self] in self?.callRefusedTasks() } }
    tell()
    return task
  }

  nonisolated func perform(
    named name: String, _ operation: @escaping @MainActor () async -> Void
  ) -> Task<Void, Never> {
    let now = elapsed()
    let (begun, own) = state.withLock { state in
      let begun = state.begin(named: name, at: now)
      // The end of the process waits for the operation, so the operation must not wait for that end.
      let own = BackgroundOperation(AwaitedRun(of: scope, generation: state.process))
      if !begun.isRefused {
        state.set(own, for: begun)
        state.set({ own.cancel() }, for: begun)
      }
      return (begun, own)
    }
    let task = Application.BackgroundTask(name: name, begun, manager: self)
    if begun.isRefused { own.cancel() }
    // No end waits for a refused operation, but the handler that starts it may, so it keeps that handler's context.
    let context = begun.isRefused ? HandlerContext.current : nil
    let running = starter.startOnMainActor(
      for: EventBus.Subscriber(label: "background task \(name)", fileID: "", line: 0)
    ) { [weak self] in
      own.willRun()
      if begun.isCalled {
        let call = self?.interceptedCall(of: begun.id, named: name)
        if begun.isRefused {
          await HandlerContext.with(context) { await call.run { await operation() } }
        } else {
          await HandlerContext.with(own.run) { await call.run { await operation() } }
        }
      }
      task.end()
    }
    own.start(as: running)
    tell()
    return running
  }

  nonisolated func end(_ id: BackgroundTimeStateMachine.TaskID, name: String) {
    let now = elapsed()
    let handler = state.withLock { $0.end(id, named: name, at: now) }
    withExtendedLifetime(handler) {}
    tell()
  }

  /// Calls the handlers of the refused tasks, and of the tasks that these handlers begin, one after another.
  func callRefusedTasks() {
    tellNews()
    while let handler = state.withLock({ $0.nextRefused() }) { handler() }
  }

  private func interceptedCall(of id: BackgroundTimeStateMachine.TaskID, named name: String) -> InterceptedCall? {
    tellNews()
    if let call = calls[id] { return application?.intercepted(call) }
    let entry = entry(named: name, began: elapsed(), duration: .zero, .completed)
    return application?.interceptedCall(entry, isLongRunning: true)
  }

  private func entry(
    named name: String, began: Duration, duration: Duration, _ outcome: LedgerEntry.Outcome
  ) -> LedgerEntry {
    LedgerEntry(
      .task, name, step: CallStep.backgroundTask.rawValue, began: began, duration: duration, outcome: outcome)
  }

  // MARK: News

  /// Whether the caller's thread may start tasks.
  ///
  /// A thread outside a simulation must not wake a task inside it. The script that is played tells the news of such threads.
  private nonisolated var mayStartTasks: Bool { starter.executor == nil || MainQueue.isCurrent }

  /// Whether ``callRefusedTasks()`` has something to do.
  nonisolated var hasNews: Bool { state.withLock { $0.hasNews || $0.hasRefused } }

  /// Tells the news of a call: at once on the main actor, otherwise soon.
  private nonisolated func tell() {
    if MainQueue.isCurrent { return MainActor.assumeIsolated { tellNews() } }
    guard mayStartTasks, state.withLock({ $0.mustStartTelling() }) else { return }
    starter.startOnMainActor { [weak self] in self?.tellNews() }
  }

  /// Tells the news so far.
  ///
  /// Observers may begin and end tasks: this is told after the present news.
  func tellNews() {
    guard !isTelling else { return application?.observers.noteCause() ?? () }
    isTelling = true
    defer { isTelling = false }
    while let news = state.withLock({ $0.nextNews() }) {
      switch news {
      case .began(let task):
        let entry = entry(named: task.name, began: task.began, duration: .zero, .completed)
        calls[task.id] = application?.callBegins(entry, isLongRunning: true)
      case .ended(let task, let outcome, let end):
        let entry = entry(named: task.name, began: task.began, duration: end - task.began, outcome)
        application?.note(entry, of: calls.removeValue(forKey: task.id)?.id)
      case .refused(let name, let refusal, let hasProcess): tellRefusal(of: name, refusal, hasProcess: hasProcess)
      case .endedTwice(let name):
        record(.report, LifecycleReport(.taskEndedTwice, name).recordName, LifecycleCause(rawValue: "task:end:\(name)"))
      }
    }
    setClock()
    if !waiters.isEmpty, !hasOpenTasks { endWait() }
  }

  private func tellRefusal(of name: String, _ refusal: RefusedTasks.Refusal, hasProcess: Bool) {
    let cause = LifecycleCause(rawValue: "task:begin:\(name)")
    // The process may have ended since.
    if hasProcess, state.withLock({ $0.time.hasProcess }) { record(.task, "refused:\(name)", cause) }
    guard refusal == .isFirstTooMany else { return }
    record(.report, LifecycleReport(.refusedEndlessly, name).recordName, cause)
  }

  /// Records an event, with its cause if no transition is its cause.
  private func record(_ kind: LifecycleRecord.Kind, _ name: String, _ cause: LifecycleCause) {
    application?.record(kind, name, application?.transitions.presentCause ?? cause)
  }

  // MARK: Modes

  func beginMode() -> BackgroundModeAssertion {
    let process = state.withLock { state in
      state.time.beginMode()
      return state.process
    }
    setClock()
    return BackgroundModeAssertion(process: process, manager: self)
  }

  func endMode(ofProcess process: Int) {
    let now = clock.now()
    let isOfThisProcess = state.withLock { state in
      if state.process == process { state.time.endMode(at: now) }
      return state.process == process
    }
    if isOfThisProcess { setClock() }
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
    tellNews()
    let now = clock.now()
    let action = state.withLock { $0.time.nextAction(at: now) }
    if action == nil {
      hasStruck = false
      setClock()
    }
    return action
  }

  /// Calls a task's expiration handler, after a record of the expiration.
  func expire(_ id: BackgroundTimeStateMachine.TaskID) {
    tellNews()
    guard let handler = state.withLock({ $0.takeHandler(of: id) }) else { return }
    record(.task, "expire:\(handler.name)", "expire")
    handler.call?()
    // The process may end soon, so the handlers of tasks that this one began do not wait for their own turn.
    callRefusedTasks()
  }

  /// Notes in the ledger each task that was not ended in time.
  func noteUnended() {
    let now = elapsed()
    state.withLock { $0.giveUp(at: now) }
    tellNews()
  }

  /// Starts a task that sleeps until the next deadline; stops the sleeping task if there is no deadline.
  private func setClock() {
    let next = isEnforced && !hasStruck ? state.withLock { $0.time.nextDeadline } : nil
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
    if let application { application.inbox.add(.backgroundClock, for: application) }
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
  ///   - suspension: the number of the suspension that follows at once. When the wait ends, further tasks are refused
  ///     until the application runs on or ``reopen(after:)`` is called. Nil if tasks may go on to begin.
  ///   - grace: the grace for work that nothing announced; the wait lasts for its rest, too.
  ///   - isWanted: whether the tasks must still end; read again at each ``checkWaits()``.
  /// - Returns: the names of the tasks that are still open after their time, in the order in which they began; empty if
  ///   the wait was no longer wanted, or the application is not in the background.
  func finishTasks(
    by deadline: Duration, before suspension: Int? = nil, grace: GracePeriod.End? = nil,
    while isWanted: @escaping @MainActor () -> Bool = { true }
  ) async -> [String] {
    func mustFinish() -> Bool { isWanted() && state.withLock { $0.time.isInBackground } }
    let now = clock.now()
    let half = now + max(.zero, deadline - now) / 2
    var isTimeUp = false
    // Again if another thread has begun a task since: it is open, so it is awaited, too.
    repeat {
      await waitForTasks(until: half, grace, while: mustFinish)
      // While a mode lasts, no task is refused, so handlers that begin new tasks could go on for ever: expire only the
      // tasks up to this one.
      let last = state.withLock { $0.time.tasks.last?.id ?? -1 }
      while mustFinish(), let id = state.withLock({ $0.time.expireNext(ofOpen: last) }) { expire(id) }
      let couldWait = await waitForTasks(until: deadline, grace, while: mustFinish)
      isTimeUp = !couldWait || clock.now() >= deadline
    } while mustFinish() && !close(before: suspension, isTimeUp: isTimeUp)
    return mustFinish() ? openTasks : []
  }

  /// Refuses further tasks, unless a task is open that still has time.
  private func close(before suspension: Int?, isTimeUp: Bool) -> Bool {
    guard let suspension else { return true }
    return state.withLock { $0.time.close(before: suspension, isTimeUp: isTimeUp) }
  }

  /// Accepts tasks again, because a suspension does not take place.
  func reopen(after suspension: Int) { state.withLock { $0.time.reopen(after: suspension) } }

  /// Lets each wait find out whether it is still wanted.
  func checkWaits() { endWait() }

  /// Returns the end of the grace if the application must run on for it now; nil if there is none.
  func graceNow() -> GracePeriod.End? { grace.end(at: clock.now()).flatMap { isGranted($0) ? $0 : nil } }

  private func isGranted(_ grace: GracePeriod.End) -> Bool {
    clock.now() < grace.instant && (!grace.endsEarly || hasOpenTasks || application?.ownTasks.hasWork == true)
  }

  /// Waits until no task is open and the grace has ended, the wait is no longer wanted, or a deadline has passed.
  ///
  /// - Returns: false if the wait ended early, because the clock cannot sleep.
  @discardableResult
  private func waitForTasks(
    until deadline: Duration, _ grace: GracePeriod.End?, while mustFinish: @MainActor () -> Bool
  ) async -> Bool {
    // This wait also ends when another wait, with an earlier deadline, ends.
    while mustFinish(), clock.now() < deadline {
      let granted = grace.flatMap { isGranted($0) ? $0 : nil }
      guard hasOpenTasks || granted != nil else { return true }
      let end = min(deadline, granted?.instant ?? deadline)
      let wait = OneShot<Bool>()
      let timer = starter.startOnMainActor { [clock, starter, weak self] in
        let hasSlept = await starter.waitOnMainActor { (try? await clock.sleepUntil(end)) != nil }
        // The wait may have ended between the wake-up and this call, and another one may have begun.
        guard !Task.isCancelled else { return }
        // A clock that cannot sleep cannot tell either when the deadline passes.
        if hasSlept { self?.endWait() } else { wait.settle(false) }
      }
      waiters.append(wait)
      let mayWaitAgain = await starter.waitOnMainActor { await wait.value }
      timer.cancel()
      if !mayWaitAgain { return false }
    }
    return true
  }

  private func endWait() {
    for wait in waiters { wait.settle(true) }
    waiters = []
  }
}
