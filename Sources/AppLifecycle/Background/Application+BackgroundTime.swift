// What an application asks of the background, and what the system's clock does to it there.

extension Application {
  /// How much longer the application may run in the background: 30 s less the stay so far; nil if that is not limited.
  ///
  /// It is not limited in the foreground, nor while a background mode stands. Where no code of the application is to run
  /// (suspended, not running) it is zero. Without background tasks the application is suspended earlier than this says.
  ///
  /// The clock is the system's: a simulated system enforces it, a real host never suspends or purges its own program.
  public var backgroundTimeRemaining: Duration? { background.remaining }

  /// Asks for time in the background to finish something.
  ///
  /// Tasks may be begun in the foreground, too: that is where one begins what must not be cut off. While one is open the
  /// application is not suspended for its stay; all of them share the 30 s of one stay
  /// (``Configuration/backgroundTaskAllowance``). 5 s before their end (``Configuration/backgroundExpirationLead``) the
  /// expiration handlers of all open tasks run, in order of begin, each once in its task's life; a task that is still open
  /// at the end is reported (`backgroundTimeExpired:NAME`), and the application purged. Names need not be unique.
  ///
  /// A begin in those last seconds is refused: the expiration handler is called at once, before this returns, and the task
  /// gives no time. So it is while the application is not running.
  ///
  /// - Parameters:
  ///   - name: what records and reports call the task.
  ///   - expirationHandler: called on the main actor when the time is nearly over; it is to end the task. It is released
  ///     when it has been called or the task has ended.
  /// - Returns: the task, to be ended exactly once.
  /// - Complexity: constant, but for the number of tasks that are open when it is ended.
  public func beginBackgroundTask(
    named name: String, expirationHandler: @escaping @MainActor () -> Void = {}
  ) -> BackgroundTask {
    background.begin(named: name) { _ in expirationHandler() }
  }

  /// Asks for time in the background to finish something, with a handler that is passed the task to end.
  ///
  /// Otherwise as the form whose handler is passed nothing, which would have to get hold of the task
  /// by itself: it is not there yet when the handler is made.
  ///
  /// - Parameters:
  ///   - name: what records and reports call the task.
  ///   - expirationHandler: called on the main actor when the time is nearly over; it is to end the task.
  /// - Returns: the task, to be ended exactly once.
  public func beginBackgroundTask(
    named name: String, expirationHandler: @escaping @MainActor (BackgroundTask) -> Void
  ) -> BackgroundTask {
    background.begin(named: name, expirationHandler: expirationHandler)
  }

  /// Runs an operation with time in the background, which ends with it.
  ///
  /// As with `beginBackgroundTask(named:expirationHandler:)`; when the time is nearly over the operation is cancelled. One
  /// that is refused runs, cancelled from the beginning. At a termination that a host orders it has what is left of the
  /// tear-down's budget, and is awaited; when the process ends, what still runs is cancelled.
  ///
  /// - Parameters:
  ///   - name: what records and reports call the background task.
  ///   - operation: what is to be finished. Runs on the main actor, and begins after this has returned. An end of the
  ///     application waits for it, so an input that it hands to ``handle(_:cause:)`` is queued.
  /// - Returns: the operation, which may be awaited or cancelled.
  @discardableResult
  public func performBackgroundTask(
    named name: String, _ operation: @escaping @MainActor () async -> Void
  ) -> Task<Void, Never> {
    background.perform(named: name, operation)
  }

  /// Begins a background mode: while it stands, no clock of the background runs.
  ///
  /// For code that plays, tracks or serves in the background. Several may stand at a time, also of the same name; when the
  /// last one ends, a new stay begins. They end with the process. A mode may be begun before the launch.
  ///
  /// - Parameter mode: why the application may run.
  /// - Returns: what ends the mode; if it is released, the mode stands on.
  @discardableResult
  public func beginBackgroundMode(_ mode: BackgroundMode) -> BackgroundModeAssertion { background.begin(mode) }
}

// MARK: - The system's clock

extension Application {
  /// Enforces the times of the background, as a simulated system does: suspension, expiration and purge.
  package func enforceBackgroundTime() { background.enforce() }

  /// What led to what happens now: a transition, or what the system is doing outside of any.
  var presentCause: LifecycleCause? { transitionCause ?? ambientCause }

  func connectBackground() {
    background.clockDidStrike = { [weak self] in self?.enqueue(.backgroundClock) }
    background.didBegin = { [weak self] in self?.callBegins($0) }
    background.didSpend = { [weak self] in self?.note($0, of: $1) }
    background.didBeginStay = { [weak self] now, cause in
      guard let self else { return }
      ledgerKeeper.beginStay(presentCause ?? cause, at: now)
    }
    background.didReport = { [weak self] kind, name, cause in
      guard let self else { return }
      record(kind, name, presentCause ?? cause)
    }
  }

  /// Does what the background's clock says, in its turn between transitions.
  ///
  /// The stay for which the clock struck may be over by now: then nothing is due.
  func passBackgroundTime() async {
    while let action = background.nextAction() {
      switch action {
      case .expire(let task): background.expire(task)
      case .purge(let names):
        let cause = presentCause ?? LifecycleCause(.purge)
        for name in names { record(.report, "backgroundTimeExpired:\(name)", cause) }
        background.noteUnended()
        _ = await run(PendingInput(input: .purge, cause: cause, waiter: nil))
      case .suspend:
        _ = await run(PendingInput(input: .suspend, cause: presentCause ?? LifecycleCause(.suspend), waiter: nil))
      }
    }
  }
}

// MARK: - Before the process is stopped, or ends

extension Application {
  /// Lets open background tasks end before the application does: what somebody asked time for is not cut off.
  ///
  /// They have what is left of the budget of a didEnterBackground in the same transition; of an application that was in the
  /// background already, half of willTerminate's, so that its handlers and resources have the other half. After half of that
  /// their expiration handlers run. One that does not end is reported and named as an overrun. A simulated system, which has
  /// clocks of its own for all this, cuts them off, as iOS does.
  ///
  /// - Parameters:
  ///   - deadline: that of didEnterBackground's budget; nil if the application was in the background already.
  ///   - cause: why the application ends.
  func finishBackgroundTasksBeforeEnd(until deadline: Duration?, cause: LifecycleCause) async {
    guard !enforcesBudgets, background.hasOpenTasks else { return }
    var (callback, length) = (ApplicationCallback.didEnterBackground, configuration.didEnterBackgroundBudget)
    let now = timing.now()
    var end = deadline ?? now
    if deadline == nil {
      beginBudget(of: .willTerminate)
      (callback, length) = (.willTerminate, configuration.willTerminateBudget)
      if let budget { end = now + (budget.deadline - now) / 2 }
    }
    let names = await background.finishTasks(by: end)
    guard !names.isEmpty else { return }
    for name in names { record(.report, "backgroundTimeExpired:\(name)", cause) }
    background.noteUnended()
    note(BudgetOverrun(callback: callback, budget: length, culprits: names), on: ledgerKeeper.transition)
  }

  /// Waits for open background tasks to end before a host stops the process, in which they would stand still.
  ///
  /// After half of the budget, the expiration handlers of the tasks that are still open run. Returns as soon as no task is open, or when
  /// an input brings the application back. A task that has not ended when the budget has passed is reported, and its name is
  /// returned; it goes on when the process does.
  ///
  /// - Parameters:
  ///   - budget: how long the tasks may take; a host gives what is left of the budget of `didEnterBackground`.
  ///   - cause: why the process is stopped, for records.
  /// - Returns: the names of the tasks that are still open, in the order in which they began.
  public func finishBackgroundTasks(within budget: Duration, cause: LifecycleCause) async -> [String] {
    ambientCause = cause
    defer { ambientCause = nil }
    let names = await background.finishTasks(by: timing.instant(after: budget))
    for name in names { record(.report, "backgroundTimeExpired:\(name)", cause) }
    return names
  }

  /// Ends a ``finishBackgroundTasks(within:cause:)`` that is under way, because the host does not stop the process after all.
  ///
  /// That call then returns no names, and no further expiration handler runs.
  public func stopFinishingBackgroundTasks() { background.stopFinishingTasks() }
}
