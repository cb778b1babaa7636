internal import PubSub

/// Performs what the state machine decided about one input, effect after effect.
@MainActor struct TransitionRun {
  let application: Application
  /// What led to the transition.
  let cause: LifecycleCause
  private let pending: PendingInput

  init(_ pending: PendingInput, of application: Application) {
    (self.application, self.pending, cause) = (application, pending, pending.cause)
  }

  /// Runs the transition to its end.
  ///
  /// - Returns: what became of the input.
  func perform() async -> TransitionReport {
    application.tell(.transitionBegan(pending.input, cause: cause))
    application.transitions.inputBegins(cause)
    defer { application.transitions.inputEnds() }
    // One that was asked about was noted when its turn came.
    if pending.question == nil { application.noteInput(pending.input) }
    // What is acquired must not delay a callback, of this transition or of the next.
    application.manager.holdBack()
    defer { application.manager.performNow(orLater: !application.inbox.isEmpty) }
    let began = application.instant
    let effects = application.transitions.handle(pending.input)
    var report = begin(effects, at: began)
    // When the tear-down that has just been waited for had to be done.
    var deadline: Duration?
    perform: for (index, effect) in effects.enumerated() {
      switch effect {
      case .ignore(let reason): report.outcome = .ignored(reason: reason)
      case .setDeactivationReasons(let reasons): application.setDeactivationReasons(reasons)
      case .commit(let next): commit(next)
      case .call(let callback):
        if callback == .willTerminate {
          await application.finishBackgroundTasksBeforeEnd(until: deadline, cause: cause)
        }
        call(callback, next: effects[(index + 1)...].firstCommittedState)
      case .post(let callback): post(callback, next: effects[(index + 1)...].firstCommittedState)
      case .commitScene(let id, let next): commitScene(id, next)
      case .setSceneFocus(let id, let hasFocus): application.sceneDirectory[id]?.setFocus(hasFocus)
      case .callScene(let id, let callback): callScene(id, callback, rest: effects[(index + 1)...])
      case .endSession(let id): application.sceneDirectory.endSession(id)
      case .awaitTearDown:
        deadline = application.tearDown.deadline
        // What an overrun ends takes no further step; a window that the user has closed is closed all the same.
        guard await application.tearDown.finish(of: application, cause: cause) else {
          purge()
          for case .endSession(let id) in effects[index...] { application.sceneDirectory.endSession(id) }
          break perform
        }
      case .loseProcess: loseProcess()
      }
    }
    end(&report, began: began)
    return report
  }

  /// Opens the page of the ledger, unless the input was ignored, and notes what led to the transition.
  private func begin(_ effects: [LifecycleStateMachine.Effect], at time: Duration) -> TransitionReport {
    let from = application.present.state
    if effects.first?.isIgnored != true { application.ownLedger.beginTransition(cause, from: from, at: time) }
    if let question = pending.question { note(question) }
    if effects.contains(.call(.willTerminate)) { application.questions.abandon() }
    if from == .notRunning, effects.contains(.call(.didFinishLaunching)) {
      application.setLaunchCause(cause)
      application.transitions.processBegins()
    }
    return TransitionReport(outcome: .completed, cause: cause, from: from, to: from)
  }

  /// Closes the page of the ledger, and completes the report.
  private func end(_ report: inout TransitionReport, began: Duration) {
    let to = application.present.state
    if to == .active { application.transitions.didEndActive() }
    report.to = to
    report.duration = application.instant - began
    if let page = application.ownLedger.endTransition(in: to, at: began + report.duration) {
      (report.kept, report.overruns) = (page.kept, page.overruns)
    }
    application.noteOutcome(report, of: pending.input)
    application.tell(.transitionEnded(report))
    application.questions.answerOvertakenInputs(in: to)
  }
}

// MARK: - Steps of the application

extension TransitionRun {
  /// Changes the state, and tells the parts that depend on it, in the order in which they may rely on each other.
  private func commit(_ next: ApplicationState) {
    let from = application.present.state
    application.setState(next)
    if next == .suspended {
      application.questions.pause()
    } else if from == .suspended, next.runsCode {
      application.questions.resume()
    }
    // Before the ledger's page of the stay is closed: what the end of the process cuts short belongs there.
    application.background.didCommit(next)
    if next == .suspended || from == .suspended { application.manager.suspensions += 1 }
    if next == .notRunning { application.ownTasks.loseProcess() }
    let time = application.instant
    let isPassedThrough = application.transitions.didCommit(next, at: time)
    if next == .background, !isPassedThrough {
      application.ownLedger.beginStay(cause, at: time)
    } else {
      application.ownLedger.endStay(in: next, at: time)
    }
    application.record(.state, next.rawValue, cause)
    application.bus.post(
      Application.StateDidChange(application: application, transition: step(.commitFirst)), from: application)
  }

  /// Calls the delegate's method, and posts its notification.
  private func call(_ callback: ApplicationCallback, next: ApplicationState?) {
    if callback == .willResignActive { application.transitions.willResignActive(at: application.instant) }
    if callback == .didEnterBackground || callback == .willTerminate { application.tearDown.beginBudget(of: callback) }
    application.record(.delegate, callback.rawValue, cause)
    application.measure(callback.rawValue) { callback.row.callDelegate(application) }
    notify(callback, next: next)
  }

  /// The notification alone: with scenes, the application's delegate is not called at the steps that scenes take.
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

  /// The present step, as its notification tells it.
  private func step(_ order: CommitOrder, next: ApplicationState? = nil) -> LifecycleTransition {
    application.transitions.step(order, next: next, cause: cause, at: application.instant)
  }

  /// The end begins whose question was answered: its page has the delegate's call, and what that overran.
  private func note(_ question: TerminationQuestion) {
    guard let entry = question.entry else { return }
    let page = application.ownLedger.transitionPage
    application.note(entry, of: question.call, on: page)
    guard question.isLate else { return }
    application.note(
      BudgetOverrun(
        callback: .shouldTerminate, budget: application.configuration.shouldTerminateBudget, culprits: [entry.name]),
      on: page)
  }
}

// MARK: - The end of the process

extension TransitionRun {
  /// The system ends a process that has misbehaved; the rest of the transition does not happen.
  private func purge() {
    // The machine stands at the transition's end already, which may be the end of the process.
    _ = application.transitions.handle(.purge)
    loseProcess()
    if application.present.state != .notRunning { commit(.notRunning) }
    application.setDeactivationReasons(application.transitions.deactivationReasons)
  }

  /// The process vanishes: what it held is gone, and nothing is released.
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
