internal import PubSub
internal import Scheduling

/// The transition of one input: performs the effects that the state machine returns, one after another.
@MainActor struct TransitionRun {
  let application: Application
  /// The cause of the transition.
  let cause: LifecycleCause
  private let pending: PendingInput

  init(_ pending: PendingInput, of application: Application) {
    (self.application, self.pending, cause) = (application, pending, pending.cause)
  }

  /// Runs the transition to its end, inside the interceptors.
  ///
  /// - Returns: the outcome of the input.
  func perform() async -> TransitionReport {
    if application.configuration.interceptors.isEmpty { return await performSteps() }
    defer { application.transitions.endTracing() }
    return await application.intercept(cause) { await performSteps() }
  }

  private func performSteps() async -> TransitionReport {
    application.tell(.transitionBegan(pending.input.sent, cause: cause))
    application.transitions.inputBegins(cause)
    defer { application.transitions.inputEnds() }
    // An end that follows a question was noted when the delegate was asked.
    if pending.question == nil { application.noteInput(pending.input) }
    // An acquire must not delay a callback of this transition or of the next.
    application.manager.holdBack()
    defer { application.manager.performNow(orLater: !application.inbox.isEmpty) }
    let (began, ranSince) = (application.instant, application.running.now())
    var effects = application.transitions.handle(pending.input)
    // A window without a scene, which was reclaimed or was open in an earlier process, has a session to end.
    if case .ignore(.unknownScene)? = effects.first, case .system(.closeScene(let id)) = pending.input,
      application.sceneDirectory.hasSession(id)
    {
      application.transitions.forgetReturn(of: id)
      effects = [.endSession(id)]
    }
    var report = begin(effects, at: began)
    // The deadline of the tear-down for which this transition last waited.
    var deadline: Duration?
    perform: for (index, effect) in effects.enumerated() {
      switch effect {
      case .ignore(let reason): report.outcome = .ignored(reason: reason)
      case .setDeactivationReasons(let reasons): application.setDeactivationReasons(reasons)
      case .commit(let next):
        commit(next)
        if next == .background { liftTimeLimits(before: effects[(index + 1)...]) }
      case .call(let callback):
        if callback == .willTerminate {
          application.tellUnseenEnd(step(.commitFirst))
          await application.finishBackgroundTasksBeforeEnd(
            until: deadline, isByHost: pending.isByHost, cause: cause)
        }
        if callback == .didFinishLaunching { application.restoreState() }
        call(callback, next: effects[(index + 1)...].firstCommittedState)
      case .post(let callback): post(callback, next: effects[(index + 1)...].firstCommittedState)
      case .commitScene(let id, let next): commitScene(id, next)
      case .setSceneFocus(let id, let hasFocus): application.sceneDirectory[id]?.setFocus(hasFocus)
      case .callScene(let id, let callback): callScene(id, callback, rest: effects[(index + 1)...])
      case .endSession(let id): application.endSession(id)
      case .awaitTearDown:
        deadline = application.tearDown.deadline
        // A process that the system ends for an overrun takes no further step. A window that the user has closed still
        // loses its session, also for the next process.
        guard await application.tearDown.finish(of: application, cause: cause) else {
          for case .endSession(let id) in effects[index...] { application.endSession(id, endsProcess: true) }
          purge()
          break perform
        }
      case .loseProcess: loseProcess()
      }
    }
    end(&report, began: began, ranSince: ranSince)
    return report
  }

  /// Begins the report, and, unless the input is ignored, its page of the ledger.
  private func begin(_ effects: [LifecycleStateMachine.Effect], at time: Duration) -> TransitionReport {
    let from = application.present.state
    let report = TransitionReport(outcome: .completed, cause: cause, from: from, to: from, began: time)
    if effects.first?.isIgnored != true { application.ownLedger.begin(report) }
    if let question = pending.question { application.questions.note(question) }
    if effects.contains(.call(.willTerminate)) { application.questions.abandon() }
    if from == .background { liftTimeLimits(before: effects[...]) }
    if from == .notRunning, effects.contains(.call(.didFinishLaunching)) {
      application.beginProcess()
      application.setLaunchCause(cause)
      application.transitions.processBegins()
    }
    return report
  }

  /// Closes the page of the ledger, and completes the report.
  private func end(_ report: inout TransitionReport, began: Duration, ranSince: Duration) {
    let to = application.present.state
    application.setIsProtectedDataAvailable(application.transitions.isProtectedDataAvailable)
    if to == .active { application.transitions.didEndActive() }
    report.to = to
    // A host may take the process to have stood still for longer than it has.
    report.duration = max(application.running.now() - ranSince, .zero)
    application.ownLedger.end(&report)
    if report.endsProcess {
      application.transitions.processEnded(isLate: !report.overruns.isEmpty, isLast: application.isAdopted)
    }
    application.noteOutcome(report, of: pending.input)
    application.tell(.transitionEnded(report))
    application.questions.answerOvertakenInputs(in: to)
  }
}

// MARK: - Steps of the application

extension TransitionRun {
  /// Changes the state, and notifies the parts that depend on it; each part may rely on the parts before it.
  private func commit(_ next: ApplicationState) {
    let from = application.present.state
    // What has changed in the background since the last save; the process may be killed without running again.
    if next == .suspended { application.saveAtOnce() }
    // What other threads have begun and ended so far belongs to the state before.
    application.background.tellNews()
    application.setState(next)
    if next == .suspended {
      application.questions.pause()
    } else if from == .suspended, next.runsCode {
      application.questions.resume()
    }
    application.background.didCommit(next)
    if next == .suspended || from == .suspended { application.manager.suspensions += 1 }
    if next == .notRunning {
      application.ownTasks.loseProcess()
      application.manager.processEnded()
      application.endKeepingState()
    }
    // After the tasks of an ended process have been cancelled, so that they do not go on.
    if next == .suspended { application.processTime.suspend() } else { application.processTime.resume() }
    application.transitions.didCommit(next, at: application.instant)
    application.record(.state, next.rawValue, cause)
    application.bus.post(
      Application.StateDidChange(application: application, transition: step(.commitFirst)), from: application)
  }

  /// Lifts the time limits of the background if the next state that is committed is in the foreground.
  private func liftTimeLimits(before rest: ArraySlice<LifecycleStateMachine.Effect>) {
    if rest.firstCommittedState?.isForeground == true { application.background.willEnterForeground() }
  }

  /// Calls the delegate's method, and posts its notification.
  private func call(_ callback: ApplicationCallback, next: ApplicationState?) {
    if callback == .willResignActive { application.transitions.willResignActive(at: application.instant) }
    if callback == .didEnterBackground || callback == .willTerminate { application.tearDown.beginBudget(of: callback) }
    if callback == .protectedDataDidBecomeAvailable { application.setIsProtectedDataAvailable(true) }
    application.record(.delegate, callback.rawValue, cause)
    application.measure(callback.rawValue) { callback.row.callDelegate(application) }
    notify(callback, next: next)
  }

  /// Posts the notification without a delegate call: with scenes, the scenes' delegates are called at these steps.
  private func post(_ callback: ApplicationCallback, next: ApplicationState?) {
    if callback == .willResignActive { application.transitions.willResignActive(at: application.instant) }
    if callback == .didEnterBackground { application.tearDown.beginBudget(of: callback) }
    notify(callback, next: next)
  }

  /// Posts a notification, and moves the phases that it opens or closes.
  private func notify(_ callback: ApplicationCallback, next: ApplicationState?) {
    let row = callback.row
    let step = step(row.commit, next: next)
    if let name = row.notificationName { application.record(.notification, name, cause) }
    row.post(application, step, application, callback.rawValue, row.phase.closing)
    application.tearDown.movePhases(after: callback, isInForeground: application.present.state.isForeground)
  }

  /// The current step, as its notification describes it.
  private func step(_ order: CommitOrder, next: ApplicationState? = nil) -> LifecycleTransition {
    application.transitions.step(order, next: next, cause: cause, at: application.instant)
  }
}

// MARK: - The end of the process

extension TransitionRun {
  /// Ends the process, as the system does after an overrun; the rest of the transition does not happen.
  private func purge() {
    // The state machine has taken all steps of this transition already, perhaps the end of the process, too.
    _ = application.transitions.handle(.device(.purge))
    loseProcess()
    if application.present.state != .notRunning { commit(.notRunning) }
    application.setDeactivationReasons(application.transitions.deactivationReasons)
  }

  /// Drops everything that the process ran or held, because the process has vanished; nothing is released.
  private func loseProcess() {
    application.questions.abandon()
    application.tearDown.loseProcess()
    loseScenes()
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
