internal import PubSub

// Performs what the state machine decided, effect after effect.

extension Application {
  /// Runs one transition to its end.
  func run(_ pending: PendingInput) async -> TransitionReport {
    tell(.transitionBegan(pending.input, cause: pending.cause))
    transitionCause = pending.cause
    defer { transitionCause = nil }
    // One that was asked about was noted when its turn came.
    if pending.question == nil { noteInput(pending.input) }
    // What is acquired must not delay a callback, of this transition or of the next.
    manager.holdBack()
    defer { manager.performNow(orLater: !inbox.isEmpty) }
    let began = timing.now()
    let from = present.state
    let effects = machine.handle(pending.input)
    var report = TransitionReport(
      outcome: .completed, cause: pending.cause, from: from, to: from)
    if effects.first?.isIgnored != true { ownLedger.beginTransition(pending.cause, from: from, at: began) }
    if let question = pending.question { note(question) }
    if effects.contains(.call(.willTerminate)) { questions.abandon() }
    if present.state == .notRunning, effects.contains(.call(.didFinishLaunching)) {
      setLaunchCause(pending.cause)
      exitStatus = 0
    }
    // When the tear-down that has just been waited for had to be done.
    var deadline: Duration?
    perform: for (index, effect) in effects.enumerated() {
      switch effect {
      case .ignore(let reason): report.outcome = .ignored(reason: reason)
      case .setDeactivationReasons(let reasons): setDeactivationReasons(reasons)
      case .commit(let next): commit(next, cause: pending.cause)
      case .call(let callback):
        if callback == .willTerminate { await finishBackgroundTasksBeforeEnd(until: deadline, cause: pending.cause) }
        call(callback, next: effects[(index + 1)...].firstCommittedState, cause: pending.cause)
      case .post(let callback): post(callback, next: effects[(index + 1)...].firstCommittedState, cause: pending.cause)
      case .commitScene(let id, let next): commitScene(id, next)
      case .setSceneFocus(let id, let hasFocus): sceneDirectory[id]?.setFocus(hasFocus)
      case .callScene(let id, let callback):
        callScene(id, callback, rest: effects[(index + 1)...], cause: pending.cause)
      case .endSession(let id): sceneDirectory.endSession(id)
      case .awaitTearDown:
        deadline = tearDown.deadline
        // What an overrun ends takes no further step; a window that the user has closed is closed all the same.
        guard await tearDownIsInTime(cause: pending.cause) else {
          for case .endSession(let id) in effects[index...] { sceneDirectory.endSession(id) }
          break perform
        }
      case .loseProcess: loseProcess()
      }
    }
    if present.state == .active { excursion.end() }
    report.to = present.state
    report.duration = timing.now() - began
    if let page = ownLedger.endTransition(in: present.state, at: began + report.duration) {
      (report.kept, report.overruns) = (page.kept, page.overruns)
    }
    noteOutcome(report, of: pending.input)
    tell(.transitionEnded(report))
    questions.answerOvertakenInputs(in: present.state)
    return report
  }

  func commit(_ next: ApplicationState, cause: LifecycleCause) {
    let from = present.state
    setState(next)
    lastTransition = (from, next)
    if next == .suspended { questions.pause() } else if from == .suspended, next.runsCode { questions.resume() }
    // Before the ledger's page of the stay is closed: what the end of the process cuts short belongs there.
    background.didCommit(next)
    if next == .suspended || from == .suspended { manager.suspensions += 1 }
    if next == .notRunning { ownTasks.loseProcess() }
    let time = timing.now()
    // With scenes a launch passes through the background on its way to the foreground; that is no stay there.
    let isPassedThrough = from == .notRunning && machine.state.isForeground
    if !isPassedThrough { excursion.didCommit(next, at: time) }
    if next == .background, !isPassedThrough {
      ownLedger.beginStay(cause, at: time)
    } else {
      ownLedger.endStay(in: next, at: time)
    }
    record(.state, next.rawValue, cause)
    bus.post(StateDidChange(application: self, transition: transition(from: from, to: next, cause: cause)), from: self)
  }

  private func call(_ callback: ApplicationCallback, next: ApplicationState?, cause: LifecycleCause) {
    if callback == .willResignActive { excursion.willBegin(at: timing.now()) }
    if callback == .didEnterBackground || callback == .willTerminate { tearDown.beginBudget(of: callback) }
    record(.delegate, callback.rawValue, cause)
    measure(callback.rawValue) { callback.row.callDelegate(self) }
    notify(callback, next: next, cause: cause)
  }

  /// The notification alone: with scenes, the application's delegate is not called at the steps that scenes take.
  private func post(_ callback: ApplicationCallback, next: ApplicationState?, cause: LifecycleCause) {
    if callback == .willResignActive { excursion.willBegin(at: timing.now()) }
    if callback == .didEnterBackground { tearDown.beginBudget(of: callback) }
    notify(callback, next: next, cause: cause)
  }

  private func notify(_ callback: ApplicationCallback, next: ApplicationState?, cause: LifecycleCause) {
    let row = callback.row
    let step = transition(row.commit, next: next, cause: cause)
    if let name = row.notificationName { record(.notification, name, cause) }
    row.post(self, step, self, callback.rawValue, row.phase.closing)
    tearDown.movePhases(after: callback, isInForeground: present.state.isForeground)
  }

  /// The end begins whose question was answered: its page has the delegate's call, and what that overran.
  private func note(_ question: TerminationQuestion) {
    guard let entry = question.entry else { return }
    note(entry, of: question.call, on: ownLedger.transitionPage)
    guard question.isLate else { return }
    note(
      BudgetOverrun(
        callback: .shouldTerminate, budget: configuration.shouldTerminateBudget, culprits: [entry.name]),
      on: ownLedger.transitionPage)
  }

  /// Waits for the step's tear-down.
  ///
  /// - Returns: whether the process goes on; false if the system has purged it for an overrun.
  private func tearDownIsInTime(cause: LifecycleCause) async -> Bool {
    if await tearDown.finish(of: self, cause: cause) { return true }
    guard enforcesBudgets else {
      tearDown.releaseUnawaited()
      return true
    }
    purge(cause: cause)
    return false
  }

  /// The system ends a process that has misbehaved; the rest of the transition does not happen.
  private func purge(cause: LifecycleCause) {
    // The machine stands at the transition's end already, which may be the end of the process.
    _ = machine.handle(.purge)
    loseProcess()
    if present.state != .notRunning { commit(.notRunning, cause: cause) }
    setDeactivationReasons(machine.deactivationReasons)
  }

  /// The process vanishes: what it held is gone, and nothing is released.
  private func loseProcess() {
    questions.abandon()
    tearDown.loseProcess()
    loseScenes()
  }

  func record(_ kind: LifecycleRecord.Kind, _ name: String, _ cause: LifecycleCause, scene: SceneIdentifier? = nil) {
    tell(
      .recorded(
        LifecycleRecord(
          instant: timing.now(), kind: kind, name: name, state: present.state, scene: scene?.rawValue, cause: cause)))
  }

  /// From where to where a callback's step goes.
  private func transition(
    _ order: CommitOrder, next: ApplicationState?, cause: LifecycleCause
  ) -> LifecycleTransition {
    switch order {
    case .callbackFirst: transition(from: present.state, to: next ?? present.state, cause: cause)
    case .commitFirst: transition(from: lastTransition.from, to: lastTransition.to, cause: cause)
    case .noCommit: transition(from: present.state, to: present.state, cause: cause)
    }
  }

  private func transition(from: ApplicationState, to: ApplicationState, cause: LifecycleCause) -> LifecycleTransition {
    let now = timing.now()
    return LifecycleTransition(from: from, to: to, cause: cause, instant: now, excursion: excursion.present(at: now))
  }
}

extension LifecycleStateMachine.Effect {
  fileprivate var isIgnored: Bool { if case .ignore = self { true } else { false } }
}

extension ArraySlice<LifecycleStateMachine.Effect> {
  fileprivate var firstCommittedState: ApplicationState? {
    for case .commit(let state) in self { return state }
    return nil
  }
}
