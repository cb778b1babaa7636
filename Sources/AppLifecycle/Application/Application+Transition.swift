internal import PubSub

// Performs what the state machine decided, effect after effect.

extension Application {
  /// Runs one transition to its end.
  func run(_ pending: PendingInput) async -> TransitionReport {
    transitionObserver?(.willBegin(pending.input))
    let began = clock.now()
    let from = state
    let effects = machine.handle(pending.input)
    var report = TransitionReport(
      outcome: .completed, cause: pending.cause, from: from, to: from, duration: .zero, stragglers: [])
    if state == .notRunning, effects.contains(.call(.didFinishLaunching)) { launchCause = pending.cause }
    var callBegan = began
    for (index, effect) in effects.enumerated() {
      switch effect {
      case .ignore(let reason): report.outcome = .ignored(reason: reason)
      case .setDeactivationReasons(let reasons): deactivationReasons = reasons
      case .commit(let next): commit(next, cause: pending.cause)
      case .call(let callback):
        callBegan = clock.now()
        call(callback, next: effects[(index + 1)...].firstCommittedState, cause: pending.cause)
      case .awaitTearDown(let callback):
        // What was late for the background may be late for the end as well; it is one and the same.
        for name in await awaitTearDown(of: callback, since: callBegan, cause: pending.cause)
        where !report.stragglers.contains(name) {
          report.stragglers.append(name)
        }
      case .loseProcess: resources.loseProcess()
      }
    }
    if state == .active { excursion.end() }
    report.to = state
    report.duration = clock.now() - began
    transitionObserver?(.didEnd(report))
    return report
  }

  private func commit(_ next: ApplicationState, cause: LifecycleCause) {
    let from = state
    state = next
    lastTransition = (from, next)
    excursion.didCommit(next, at: clock.now())
    record(.state, next.rawValue, cause)
    bus.post(StateDidChange(application: self, transition: transition(from: from, to: next, cause: cause)), from: self)
  }

  private func call(_ callback: ApplicationCallback, next: ApplicationState?, cause: LifecycleCause) {
    if callback == .willResignActive { excursion.willBegin(at: clock.now()) }
    record(.delegate, callback.rawValue, cause)
    callback.callDelegate(of: self)
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

  /// Waits until what is to be released has been, at most until the callback's budget has passed; names who was late.
  private func awaitTearDown(
    of callback: ApplicationCallback, since began: Duration, cause: LifecycleCause
  ) async -> [String] {
    guard !resources.isTornDown else { return [] }
    let budget =
      callback == .willTerminate ? configuration.willTerminateBudget : configuration.didEnterBackgroundBudget
    let wait = TearDownWait(deadline: began + budget)
    tearDown = wait
    hurryTearDownIfReturning()
    await wait.untilTornDown(resources, tasks: tasks, clock: clock)
    tearDown = nil
    let stragglers = resources.namesBeingTornDown
    for name in stragglers { record(.report, "watchdog:\(name)", cause) }
    return stragglers
  }

  private func record(_ kind: LifecycleRecord.Kind, _ name: String, _ cause: LifecycleCause) {
    recorder?(LifecycleRecord(instant: clock.now(), kind: kind, name: name, state: state, cause: cause))
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

extension ArraySlice<LifecycleStateMachine.Effect> {
  fileprivate var firstCommittedState: ApplicationState? {
    for case .commit(let state) in self { return state }
    return nil
  }
}
