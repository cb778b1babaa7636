import AppLifecycle

extension TerminalStateMachine {
  /// Ends the application in order, with the whole tear-down, from any phase.
  mutating func terminate(_ cause: LifecycleCause) {
    wantedQuestion = nil
    giveTerminalBack(within: timeToLeave)
    let isTornDown = phase == .background
    enter(.terminating)
    wait(
      for: send(.shutDown, cause),
      within: isTornDown ? budgets.willTerminate : budgets.didEnterBackground + budgets.willTerminate)
  }

  /// Follows an end without an order of the host, or one to which the delegate has agreed; the budgets apply to it,
  /// too.
  mutating func followBeginningOfEnd() {
    orders.beginEnd()
    (inquiry, wantedQuestion) = (.none, nil)
    guard phase != .terminating else { return }
    question = nil
    giveTerminalBack(within: timeToLeave)
    awaited = nil
    afterLeaving = nil
    enter(.terminating)
    emit(.armDeadline(budgets.didEnterBackground + budgets.willTerminate + budgets.grace))
  }

  /// Arms the deadline of each budget on the application's way to the end; time left of one budget is not added to the
  /// next.
  mutating func followBudget(of callback: ApplicationCallback) {
    budgetUnderWay = callback
    guard phase == .terminating, afterLeaving == nil else { return }
    emit(.armDeadline(budgets.length(of: callback) + budgets.grace))
  }

  /// Reacts to the end of the application.
  mutating func followEnd(_ overruns: [BudgetOverrun]) {
    guard phase != .terminating || afterLeaving == nil else { return }
    enter(.terminating)
    note(overruns)
    finish(mainActorAnswers: true)
  }

  /// Ends the host's work once the terminal has accepted the leaving sequences.
  mutating func finish(mainActorAnswers: Bool) {
    giveTerminalBack(within: budgets.grace)
    emit(.disarmDeadline)
    guard !isLeavingTerminal else {
      afterLeaving = .finish(mainActorAnswers: mainActorAnswers)
      return
    }
    let exitStatus =
      if !overruns.isEmpty { ExitStatus.tearDownOverran } else if terminalIsUnrestored { ExitStatus.outputFailed } else
      {
        ExitStatus.success
      }
    reportOverruns()
    emit(.finish(status: exitStatus, mainActorAnswers: mainActorAnswers))
    enter(.ended)
  }

  /// The time for which the terminal may accept no output while the application ends: as long as the application itself
  /// has.
  private var timeToLeave: Duration { budgets.didEnterBackground + budgets.willTerminate + budgets.grace }
}
