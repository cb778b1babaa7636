internal import PubSub

// What an application asks of the background, and what the system's clock does to it there.

extension Application {
  /// The time that is left to the application in the background: 30 s less the stay so far; nil if it is not limited.
  ///
  /// The time is not limited in the foreground, nor while a background mode lasts. It is zero while the application is
  /// suspended or not running. Without background tasks the application is suspended earlier.
  ///
  /// The clock is the system's: a simulated system enforces it, a real host never suspends or purges its own program.
  public var backgroundTimeRemaining: Duration? { background.remaining }

  /// Begins a background task, which gives the application time to finish its work.
  ///
  /// Begin a task in the foreground if its work must not be cut off. While a task is open the application is not suspended; all
  /// tasks share the 30 s of one stay (``Configuration/backgroundTaskAllowance``). 5 s before the end of this time
  /// (``Configuration/backgroundExpirationLead``) the expiration handlers of all open tasks run, in order of begin, each once
  /// in its task's life. A task that is still open at the end is reported (`backgroundTimeExpired:NAME`), and the application
  /// is purged. Names need not be unique.
  ///
  /// A task is refused if it is begun in those last seconds, or while the application is not running: its expiration handler is
  /// called before this method returns, and the task gives no time.
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

  /// Begins a background task whose expiration handler is passed the task to end.
  ///
  /// Otherwise the same as `beginBackgroundTask` with a handler without parameters. Such a handler cannot capture the task,
  /// which does not exist yet when the handler is made.
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

  /// Runs an operation inside a background task, which ends with the operation.
  ///
  /// The rules are those of `beginBackgroundTask(named:expirationHandler:)`. When the time is nearly over, the operation is
  /// cancelled. If the task is refused, the operation runs and is cancelled from the beginning. At a termination that a host
  /// orders, the operation is awaited for what is left of the tear-down's budget. When the process ends, an operation that
  /// still runs is cancelled.
  ///
  /// - Parameters:
  ///   - name: what records and reports call the background task.
  ///   - operation: the work to finish. Runs on the main actor, and begins after this method has returned. An end of the
  ///     application waits for it, so an input that it hands to ``handle(_:cause:)`` is queued.
  /// - Returns: the operation, which may be awaited or cancelled.
  @discardableResult
  public func performBackgroundTask(
    named name: String, _ operation: @escaping @MainActor () async -> Void
  ) -> Task<Void, Never> {
    background.perform(named: name, operation)
  }

  /// Begins a background mode.
  ///
  /// While it lasts, the application may run in the background without limit.
  ///
  /// For code that plays, tracks or serves in the background. Several modes may last at a time, also of the same name; when the
  /// last one ends, a new stay begins. All end with the process. A mode may be begun before the launch.
  ///
  /// - Parameter mode: why the application may run.
  /// - Returns: the object that ends the mode. If it is released, the mode goes on.
  @discardableResult
  public func beginBackgroundMode(_ mode: BackgroundMode) -> BackgroundModeAssertion { background.begin(mode) }
}

// MARK: - The system's clock

extension Application {
  /// Enforces the times of the background, as a simulated system does: suspension, expiration and purge.
  package func enforceBackgroundTime() { background.enforce() }

  func connectBackground() {
    background.clockDidStrike = { [weak self] in
      guard let self else { return }
      inbox.add(.backgroundClock, for: self)
    }
    background.didBegin = { [weak self] in self?.callBegins($0) }
    background.didSpend = { [weak self] in self?.note($0, of: $1) }
    background.didBeginStay = { [weak self] now, cause in
      guard let self else { return }
      ownLedger.beginStay(transitions.presentCause ?? cause, at: now)
    }
    background.didReport = { [weak self] kind, name, cause in
      guard let self else { return }
      record(kind, name, transitions.presentCause ?? cause)
    }
  }

  /// Performs what is due in the background, between transitions.
  ///
  /// The stay whose deadline passed may be over by now: then nothing is due.
  func passBackgroundTime() async {
    while let action = background.nextAction() {
      switch action {
      case .expire(let task): background.expire(task)
      case .purge(let names):
        let cause = transitions.presentCause ?? LifecycleCause(.purge)
        for name in names { record(.report, "backgroundTimeExpired:\(name)", cause) }
        background.noteUnended()
        await run(.purge, cause: cause)
      case .suspend: await run(.suspend, cause: transitions.presentCause ?? LifecycleCause(.suspend))
      }
    }
  }

  private func run(_ input: SystemInput, cause: LifecycleCause) async {
    _ = await TransitionRun(PendingInput(input: input, cause: cause), of: self).perform()
  }
}

// MARK: - Before the process is stopped, or ends

extension Application {
  /// Lets open background tasks end before the application does.
  ///
  /// The tasks have what is left of the budget of a didEnterBackground in the same transition. If the application was in the
  /// background already, they have half of willTerminate's, so that handlers and resources have the other half. After half of
  /// that time their expiration handlers run. A task that does not end is reported as an overrun. A simulated system, which has
  /// clocks of its own for all this, cuts the tasks off, as iOS does.
  ///
  /// - Parameters:
  ///   - deadline: that of didEnterBackground's budget; nil if the application was in the background already.
  ///   - cause: why the application ends.
  func finishBackgroundTasksBeforeEnd(until deadline: Duration?, cause: LifecycleCause) async {
    guard !tearDown.enforcesBudgets, background.hasOpenTasks else { return }
    var (callback, length) = (ApplicationCallback.didEnterBackground, configuration.didEnterBackgroundBudget)
    let now = timing.now()
    var end = deadline ?? now
    if deadline == nil {
      tearDown.beginBudget(of: .willTerminate)
      (callback, length) = (.willTerminate, configuration.willTerminateBudget)
      if let deadline = tearDown.deadline { end = now + (deadline - now) / 2 }
    }
    let names = await background.finishTasks(by: end)
    guard !names.isEmpty else { return }
    for name in names { record(.report, "backgroundTimeExpired:\(name)", cause) }
    background.noteUnended()
    note(BudgetOverrun(callback: callback, budget: length, culprits: names), on: ownLedger.transitionPage)
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
