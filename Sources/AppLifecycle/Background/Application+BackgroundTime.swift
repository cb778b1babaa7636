internal import Scheduling

// Background tasks and modes, and the system's time limits for an application in the background.

extension Application {
  /// The time that the application may still run in the background; nil if it is not limited.
  ///
  /// It is ``Configuration/backgroundTaskAllowance``, by default 30 s, less the time since the stay in the background
  /// began. The time is unlimited from the return to the foreground on, before ``WillEnterForeground``. It is also
  /// unlimited while a background mode lasts. Otherwise it is zero while the application is suspended or not running.
  /// Without background tasks the application is suspended earlier.
  ///
  /// A simulated system enforces the limit. A real host never suspends or purges its own program because of it.
  ///
  /// Any thread may read it.
  public nonisolated var remainingBackgroundTime: Duration? { background.remaining }

  /// Begins a background task, which gives the application time to finish its work.
  ///
  /// Begin a task in the foreground if its work must not be cut off. All tasks share one allowance for each stay in the
  /// background, 30 s by default (``Configuration/backgroundTaskAllowance``). Names need not be unique.
  ///
  /// Any thread may call the method. The task has begun, or is refused, when it returns
  /// (``BackgroundTask/wasRefused``). If the caller is not on the main actor, observers and the ledger learn of it soon
  /// after, in the order of the calls.
  ///
  /// A simulated system enforces the allowance. While a task is open, the end of ``Configuration/backgroundStay`` does
  /// not suspend the application. The expiration handlers of all open tasks run 5 s before the end of the allowance
  /// (``Configuration/backgroundExpirationLead``), in the order in which the tasks began, and once for each task. If a
  /// task is still open at the end, it is reported (`backgroundTimeExpired:NAME`), and the application is purged.
  ///
  /// A real host enforces no allowance. It calls the expiration handlers only before it suspends or ends the
  /// application.
  ///
  /// After the expiration handlers have run, the application refuses further tasks until the stay ends. The stay ends
  /// before ``WillEnterForeground``. A task that begins while the application is suspended or not running is refused,
  /// too. So is one that begins between the end of the wait for tasks and a suspension: a task that begins earlier is
  /// awaited. A refused task gives no time. The application calls its expiration handler on the main actor, soon after
  /// this method has returned, unless the task has ended by then.
  ///
  /// Do not begin the same task again in the expiration handler: it is refused again. After 1,000 refusals in one state
  /// the application reports the mistake (`refusedEndlessly:NAME`), and calls no further handler of a refused task until
  /// its state changes.
  ///
  /// - Parameters:
  ///   - name: the task's name in records and reports.
  ///   - expirationHandler: called on the main actor with the task shortly before the time is over; it must end the task. It
  ///     is released when it has been called or the task has ended.
  /// - Returns: the task; end it exactly once.
  /// - Complexity: constant; the end of the task is linear in the number of open tasks.
  public nonisolated func beginBackgroundTask(
    named name: String, expirationHandler: @escaping @MainActor (Application.BackgroundTask) -> Void = { _ in }
  ) -> Application.BackgroundTask {
    background.begin(named: name, expirationHandler: expirationHandler)
  }

  /// Ends the background task with a number, as ``BackgroundTask/end()`` does; any thread may call it.
  ///
  /// - Parameters:
  ///   - number: the task's number; one that no task has counts as that of a task that has ended.
  ///   - name: the name in the report that the task has already ended.
  package nonisolated func endBackgroundTask(numbered number: Int, named name: String) {
    background.end(number, name: name)
  }

  /// Runs an operation inside a background task, which ends with the operation.
  ///
  /// All tasks share one allowance for each stay in the background; see
  /// ``beginBackgroundTask(named:expirationHandler:)``. Shortly before the time is over, a simulated system cancels the
  /// operation. If the task is refused, the operation runs, cancelled from the beginning. It does not run
  /// if the task is refused endlessly.
  ///
  /// Any thread may call the method. The task has begun, or is refused, when it returns.
  ///
  /// The hosts of terminal programs and services wait for the operation:
  ///
  /// - At Ctrl-Z, and before the machine sleeps: for the rest of the budget of `didEnterBackground`.
  /// - At the end, before `willTerminate`: for the rest of the same budget, or, if the program was in the background
  ///   already, for half of the budget of `willTerminate`.
  ///
  /// After half of that time the application cancels the operation, and awaits its end for the other half. The script
  /// actions `suspend`, `kill` and `quit` do not wait, as a phone does not. The end of the process cancels an operation
  /// that still runs.
  ///
  /// - Parameters:
  ///   - name: the task's name in records and reports.
  ///   - operation: the work to finish. It runs on the main actor, and begins after this method has returned. Because
  ///     an end of a terminal program or a service waits for it, an input that it passes to ``handle(_:cause:)`` is
  ///     queued.
  /// - Returns: the task of the operation, which you may await or cancel.
  @discardableResult
  public nonisolated func performBackgroundTask(
    named name: String, _ operation: @escaping @MainActor () async -> Void
  ) -> Task<Void, Never> {
    background.perform(named: name, operation)
  }

  /// Begins a background mode.
  ///
  /// While it lasts, the application may run in the background without limit.
  ///
  /// Use it for code that plays sound, follows the position or serves requests in the background. Several modes may
  /// last at a time. When the last one ends, a new stay in the background begins, with all its time. All modes end with
  /// the process. A mode may begin before the launch.
  ///
  /// - Returns: an object with which to end the mode. Releasing the object does not end the mode.
  @discardableResult
  public func beginBackgroundMode() -> BackgroundModeAssertion { background.beginMode() }
}

// MARK: - The system's clock

extension Application {
  /// Whether threads outside a simulation have begun or ended background tasks, and the main actor does not know it.
  package nonisolated var hasNewsOfBackgroundTasks: Bool { background.hasNews }

  /// Tells the main actor which background tasks have begun and ended, and calls the handlers of refused ones.
  package func tellNewsOfBackgroundTasks() { background.callRefusedTasks() }

  /// Enforces the times of the background, as a simulated system does: suspension, expiration and purge.
  package func enforceBackgroundTime() { background.enforce() }

  /// Performs what is due in the background, between transitions.
  ///
  /// If the stay whose deadline has passed is over by now, no action is due.
  func passBackgroundTime() async {
    while let action = background.nextAction() {
      switch action {
      case .expire(let task): background.expire(task)
      case .purge(let names):
        let cause = transitions.presentCause ?? LifecycleCause(.device(.purge))
        for name in names { report(.backgroundTimeExpired, name, cause) }
        background.noteUnended()
        await run(.device(.purge), cause: cause)
      case .suspend: await run(.system(.suspend), cause: transitions.presentCause ?? LifecycleCause(.suspend))
      }
    }
  }

  private func run(_ input: LifecycleInput, cause: LifecycleCause) async {
    _ = await TransitionRun(PendingInput(input: input, cause: cause), of: self).perform()
  }
}

// MARK: - Before the process is stopped, or ends

extension Application {
  /// Lets open background tasks end before the application does, and waits for the rest of the grace.
  ///
  /// After a didEnterBackground in the same transition, the tasks have the rest of its budget. If the application was
  /// in the background already, they have half of the budget of willTerminate, so that handlers and resources have the
  /// other half. After half of their time the expiration handlers run. A task that does not end is reported as an
  /// overrun. A simulated system enforces its own time limits, and ends the tasks without waiting, as iOS does, unless
  /// it plays the end by a host.
  ///
  /// The grace (``Configuration/backgroundGrace``) is part of the same time. Work that a handler of willTerminate starts
  /// has none: the process ends with that step, as on iOS.
  ///
  /// - Parameters:
  ///   - deadline: the end of the budget of didEnterBackground; nil if the application was in the background already.
  ///   - isByHost: whether a simulated system plays the end by a host.
  ///   - cause: the cause of the end.
  func finishBackgroundTasksBeforeEnd(until deadline: Duration?, isByHost: Bool, cause: LifecycleCause) async {
    let grace = background.graceNow()
    guard isByHost || !tearDown.enforcesBudgets, background.hasOpenTasks || grace != nil else { return }
    var (callback, length) = (ApplicationCallback.didEnterBackground, configuration.didEnterBackgroundBudget)
    // This wait delays the next callback in any case. Operations that the tasks need, such as an acquire, must begin.
    manager.performNow(orLater: true)
    defer { manager.holdBack() }
    let now = running.now()
    var end = deadline ?? now
    if deadline == nil {
      tearDown.beginBudget(of: .willTerminate)
      (callback, length) = (.willTerminate, configuration.willTerminateBudget)
      if let deadline = tearDown.deadline { end = now + (deadline - now) / 2 }
    }
    let names = await background.finishTasks(by: end, grace: grace)
    guard !names.isEmpty else { return }
    for name in names { report(.backgroundTimeExpired, name, cause) }
    background.noteUnended()
    tearDown.tasksWereLate()
    note(BudgetOverrun(callback: callback, budget: length, culprits: names), on: ownLedger.page)
  }

  /// Suspends the application, as a host does before the system stops the process.
  ///
  /// The method queues ``SystemInput/home`` and returns at once; any thread may call it. When that transition has ended,
  /// the application waits for open background tasks, and then takes ``SystemInput/suspend``. The tear-down and the tasks
  /// share the budget of `didEnterBackground`, and so does the grace (``Configuration/backgroundGrace``), for which the
  /// application waits, too. Tasks that are still open at its end are reported as an overrun. It does not
  /// wait for background modes: they let the application run in the background, and do not keep the process from being
  /// stopped.
  ///
  /// An input that is sent after the call and before the suspension revokes it: the application stays awake, and
  /// expiration handlers that have not run yet do not run. Such an input wakes the application, may bring it to the
  /// foreground, or ends it: ``SystemInput/open``, ``SystemInput/openScene(_:)``, ``SystemInput/launch``,
  /// ``SystemInput/unlock``, ``SystemInput/wake``, ``SystemInput/fetch``, ``SystemInput/terminate`` and
  /// ``SystemInput/shutDown``.
  ///
  ///     case .sleep: application.suspend(cause: "sleep")
  ///     case .wake: application.send(.open, cause: "wake")
  ///
  /// A host that must know when the system may stop the process awaits the value of the task. Do not await it in code
  /// for which a transition waits, such as an asynchronous handler of a closing notification.
  ///
  /// - Parameter cause: the cause that records and notifications show; `suspend` if nil.
  /// - Returns: a task with the result: true if the application is suspended, false if it stays awake or does not run.
  ///   Cancelling the task has no effect.
  @discardableResult
  public nonisolated func suspend(cause: LifecycleCause? = nil) -> Task<Bool, Never> {
    let cause = cause ?? LifecycleCause(.suspend)
    let suspension = beginSuspension(cause: cause)
    return tasks.startOnMainActor { [self] in await finish(suspension, cause: cause).to == .suspended }
  }

  /// Suspends the application as ``suspend(cause:)`` does, for a host.
  ///
  /// - Parameters:
  ///   - cause: the cause of the suspension.
  ///   - budget: the time for the tear-down and the background tasks together; nil for the budget of `didEnterBackground`.
  /// - Returns: the report of all steps, from the state before the first to the state after the last. The host learns of
  ///   the overruns from the observers.
  package func handleSuspension(cause: LifecycleCause, within budget: Duration? = nil) async -> TransitionReport {
    await finish(beginSuspension(cause: cause), cause: cause, within: budget)
  }

  /// Whether the application is about to be suspended, and not only in the background.
  package var isBeingSuspended: Bool { inbox.hasBegunSuspension }

  /// Revokes the suspensions that have begun, without another input.
  package func revokeSuspensions() {
    inbox.revokeSuspensions()
    background.checkWaits()
  }

  /// A suspension that has begun at a time of ``running``.
  private typealias BegunSuspension = (order: Int, began: Duration, home: OneShot<TransitionReport>)

  /// Queues `home` before it returns: an input that is sent next must come after it.
  private nonisolated func beginSuspension(cause: LifecycleCause) -> BegunSuspension {
    let (home, began) = (OneShot<TransitionReport>(), running.now())
    let order = inbox.beginSuspension(with: PendingInput(input: .system(.home), cause: cause, answer: home), for: self)
    return (order, began, home)
  }

  /// Lets background tasks and the grace end after `home`, and suspends the application unless the suspension was revoked.
  private func finish(
    _ suspension: BegunSuspension, cause: LifecycleCause, within budget: Duration? = nil
  ) async -> TransitionReport {
    let home = await tasks.waitOnMainActor { await suspension.home.value }
    let budget = budget ?? configuration.didEnterBackgroundBudget
    // `home` may have waited for its turn, as for the tear-down of a lock.
    let spent = running.now() - suspension.began
    let open = await finishBackgroundTasks(within: budget - spent, before: suspension.order, cause: cause) { [inbox] in
      !inbox.hasRevokedSuspension(since: suspension.order)
    }
    if !open.isEmpty {
      note(BudgetOverrun(callback: .didEnterBackground, budget: budget, culprits: open), on: ownLedger.page)
    }
    let answer = OneShot<TransitionReport>()
    let suspend = PendingInput(input: .system(.suspend), cause: cause, answer: answer, suspension: suspension.order)
    var report = home
    report.to = present.state
    if inbox.endSuspension(with: suspend, for: self) {
      report.to = await tasks.waitOnMainActor { await answer.value }.to
    }
    background.reopen(after: suspension.order)
    return report
  }

  /// Waits for open background tasks to end, for a host that the system suspends itself.
  ///
  /// After half of the budget, the expiration handlers of the tasks that are still open run. The method returns as soon
  /// as no task is open, or when an input brings the application back to the foreground. A task that is still open when
  /// the budget has passed is reported. It continues when the process continues.
  ///
  /// - Parameters:
  ///   - budget: the time that the tasks may take.
  ///   - suspension: the number of the suspension that follows at once, if one does.
  ///   - cause: the cause of the wait, for records.
  ///   - isWanted: whether the tasks must still end; read again at each `BackgroundTaskManager.checkWaits()`.
  /// - Returns: the names of the tasks that are still open after their time, in the order in which they began.
  @discardableResult
  package func finishBackgroundTasks(
    within budget: Duration, before suspension: Int? = nil, cause: LifecycleCause,
    while isWanted: @escaping @MainActor () -> Bool = { true }
  ) async -> [String] {
    transitions.waitCauses.append(cause)
    defer { transitions.waitCauses.firstIndex(of: cause).map { _ = transitions.waitCauses.remove(at: $0) } }
    let open = await background.finishTasks(
      by: running.instant(after: budget), before: suspension, grace: suspension == nil ? nil : background.graceNow(),
      while: isWanted)
    for name in open { report(.backgroundTimeExpired, name, cause) }
    return open
  }
}
