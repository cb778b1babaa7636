import AppLifecycle

extension TerminalStateMachine {
  /// Has the application end, in full order, from wherever it stands.
  mutating func terminate(_ cause: LifecycleCause) {
    wantedQuestion = nil
    giveTerminalBack(within: timeToLeave)
    if applicationIsSuspended {
      applicationIsSuspended = false
      send(.wake, cause)
    }
    let isInForeground = phase == .foreground
    enter(.terminating)
    send(
      .shutDown, cause,
      within: isInForeground ? budgets.didEnterBackground + budgets.willTerminate : budgets.willTerminate)
  }

  /// The application ends without an order of the host, or has agreed to end; the budgets hold for that as well.
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

  /// On its way to the end the application spends one budget after another: none is lent to another.
  mutating func followBudget(of callback: ApplicationCallback) {
    guard phase == .terminating, afterLeaving == nil else { return }
    budgetUnderWay = callback
    emit(.armDeadline(budgets.length(of: callback) + budgets.grace))
  }

  /// The application is not running any more.
  mutating func followEnd(_ overruns: [BudgetOverrun]) {
    // What the host asked for comes with a report, in a moment.
    guard phase != .terminating || awaited == nil && afterLeaving == nil else { return }
    enter(.terminating)
    note(overruns)
    finish(mainActorAnswers: true)
  }

  /// Ends the host's work once the terminal has taken the leaving sequences.
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

  /// How long the terminal may take nothing while the application ends: as long as the application itself.
  private var timeToLeave: Duration { budgets.didEnterBackground + budgets.willTerminate + budgets.grace }
}
