internal import PubSub

// Performs what the state machine decided, effect after effect.

extension Application {
  /// Runs one transition to its end.
  func run(_ pending: PendingInput) async -> TransitionReport {
    transitionObserver?(.willBegin(pending.input))
    transitionCause = pending.cause
    defer { transitionCause = nil }
    noteInput(pending.input)
    let began = clock.now()
    let from = state
    let effects = machine.handle(pending.input)
    var report = TransitionReport(
      outcome: .completed, cause: pending.cause, from: from, to: from)
    if effects.first?.isIgnored != true { ledgerKeeper.beginTransition(pending.cause, from: from, at: began) }
    if state == .notRunning, effects.contains(.call(.didFinishLaunching)) { launchCause = pending.cause }
    var callBegan = began
    var leavingBegan: Duration?
    for (index, effect) in effects.enumerated() {
      switch effect {
      case .ignore(let reason): report.outcome = .ignored(reason: reason)
      case .setDeactivationReasons(let reasons): deactivationReasons = reasons
      case .commit(let next): commit(next, cause: pending.cause)
      case .call(let callback):
        callBegan = clock.now()
        call(callback, next: effects[(index + 1)...].firstCommittedState, cause: pending.cause)
      case .post(let callback):
        callBegan = leavingBegan ?? clock.now()
        post(callback, next: effects[(index + 1)...].firstCommittedState, cause: pending.cause)
      case .commitScene(let id, let next): commitScene(id, next)
      case .callScene(let id, let callback):
        // One budget covers all scenes of the step.
        if callback == .didEnterBackground, leavingBegan == nil { leavingBegan = clock.now() }
        callScene(id, callback, rest: effects[(index + 1)...], cause: pending.cause)
      case .endSession(let id): sceneDirectory.endSession(id)
      case .awaitTearDown(let callback):
        await awaitTearDown(of: callback, since: callBegan, cause: pending.cause)
      case .loseProcess:
        resources.loseProcess()
        sceneDirectory.loseProcess()
      }
    }
    if state == .active { excursion.end() }
    report.to = state
    report.duration = clock.now() - began
    if let page = ledgerKeeper.endTransition(in: state, at: began + report.duration) {
      (report.entries, report.overruns) = (page.entries, page.overruns)
    }
    noteOutcome(report, of: pending.input)
    transitionObserver?(.didEnd(report))
    return report
  }

  private func commit(_ next: ApplicationState, cause: LifecycleCause) {
    let from = state
    state = next
    lastTransition = (from, next)
    // Before the ledger's page of the stay is closed: what the end of the process cuts short belongs there.
    background.didCommit(next)
    let time = clock.now()
    // With scenes a launch passes through the background on its way to the foreground; that is no stay there.
    let isPassedThrough = from == .notRunning && machine.state.isForeground
    if !isPassedThrough { excursion.didCommit(next, at: time) }
    if next == .background, !isPassedThrough {
      ledgerKeeper.beginStay(cause, at: time)
    } else {
      ledgerKeeper.endStay(in: next, at: time)
    }
    record(.state, next.rawValue, cause)
    bus.post(StateDidChange(application: self, transition: transition(from: from, to: next, cause: cause)), from: self)
  }

  private func call(_ callback: ApplicationCallback, next: ApplicationState?, cause: LifecycleCause) {
    let began = clock.now()
    if callback == .willResignActive { excursion.willBegin(at: began) }
    record(.delegate, callback.rawValue, cause)
    callback.callDelegate(of: self)
    delegateCallObserver?(callback.rawValue)
    ledgerKeeper.note(
      LedgerEntry(
        .delegate, callback.rawValue, step: callback.rawValue, began: began, duration: clock.now() - began),
      on: ledgerKeeper.transition)
    notify(callback, next: next, cause: cause)
  }

  /// The notification alone: with scenes, the application's delegate is not called at the steps that scenes take.
  private func post(_ callback: ApplicationCallback, next: ApplicationState?, cause: LifecycleCause) {
    if callback == .willResignActive { excursion.willBegin(at: clock.now()) }
    notify(callback, next: next, cause: cause)
  }

  private func notify(_ callback: ApplicationCallback, next: ApplicationState?, cause: LifecycleCause) {
    let step = transition(of: callback, next: next, cause: cause)
    if let name = callback.notificationName { record(.notification, name, cause) }
    callback.postNotification(of: self, step)
    resources.setOpenPhases(phasesOpen(after: callback))
  }

  /// The phases open after a callback; a resource is acquired and released only when its handlers have run.
  private func phasesOpen(after callback: ApplicationCallback) -> Set<LifecyclePhase> {
    var phases = resources.openPhases
    switch callback {
    case .didFinishLaunching:
      phases.insert(.running)
      // At a cold launch no willEnterForeground is sent.
      if state.isForeground { phases.insert(.foreground) }
    case .willEnterForeground: phases.insert(.foreground)
    case .didBecomeActive: phases.insert(.active)
    case .willResignActive: phases.remove(.active)
    case .didEnterBackground: phases.remove(.foreground)
    case .willTerminate: phases.remove(.running)
    default: break
    }
    return phases
  }

  /// Waits until what is to be released has been, at most until the callback's budget has passed; notes who was late.
  private func awaitTearDown(
    of callback: ApplicationCallback, since began: Duration, cause: LifecycleCause
  ) async {
    guard !resources.isTornDown else { return }
    let budget =
      callback == .willTerminate ? configuration.willTerminateBudget : configuration.didEnterBackgroundBudget
    let wait = TearDownWait(deadline: began + budget)
    tearDown = wait
    hurryTearDownIfReturning()
    await wait.untilTornDown(resources, tasks: tasks, clock: clock)
    tearDown = nil
    let stragglers = resources.namesBeingTornDown
    guard !stragglers.isEmpty else { return }
    for name in stragglers { record(.report, "watchdog:\(name)", cause) }
    ledgerKeeper.note(
      BudgetOverrun(callback: callback, budget: budget, culprits: stragglers), on: ledgerKeeper.transition)
  }

  func record(_ kind: LifecycleRecord.Kind, _ name: String, _ cause: LifecycleCause, scene: SceneIdentifier? = nil) {
    let new = LifecycleRecord(
      instant: clock.now(), kind: kind, name: name, state: state, scene: scene?.rawValue, cause: cause)
    recorder?(new)
    for observer in recordObservers { observer(new) }
  }

  /// From where to where a callback's step goes: *will…* callbacks come before the commit, *did…* callbacks after it.
  private func transition(
    of callback: ApplicationCallback, next: ApplicationState?, cause: LifecycleCause
  ) -> LifecycleTransition {
    switch callback {
    case .willResignActive, .willEnterForeground, .willTerminate:
      transition(from: state, to: next ?? state, cause: cause)
    case .didFinishLaunching, .didBecomeActive, .didEnterBackground:
      transition(from: lastTransition.from, to: lastTransition.to, cause: cause)
    default: transition(from: state, to: state, cause: cause)
    }
  }

  private func transition(from: ApplicationState, to: ApplicationState, cause: LifecycleCause) -> LifecycleTransition {
    let now = clock.now()
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
