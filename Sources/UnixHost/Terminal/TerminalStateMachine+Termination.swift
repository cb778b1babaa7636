import AppLifecycle

extension TerminalStateMachine {
  /// Has the application end, in full order, from wherever it stands.
  mutating func terminate(_ cause: LifecycleCause) {
    if holdsTerminal { emit(.quietFocus) }
    if applicationIsSuspended {
      applicationIsSuspended = false
      send(.wake, cause)
    }
    let isInForeground = phase == .foreground
    enter(.terminating)
    send(
      .terminate, cause,
      within: isInForeground ? budgets.didEnterBackground + budgets.willTerminate : budgets.willTerminate)
  }

  /// The application ends without having been asked to; the budgets hold for that as well.
  mutating func followBeginningOfEnd() {
    guard phase != .terminating else { return }
    question = nil
    if holdsTerminal { emit(.quietFocus) }
    awaited = nil
    enter(.terminating)
    emit(.armDeadline(budgets.didEnterBackground + budgets.willTerminate + budgets.grace))
  }

  /// On its way to the end the application spends one budget after another: none is lent to another.
  mutating func followBudget(of callback: ApplicationCallback) {
    guard phase == .terminating else { return }
    budgetUnderWay = callback
    emit(.armDeadline(budgets.length(of: callback) + budgets.grace))
  }

  /// The application is not running any more.
  mutating func followEnd(_ overruns: [BudgetOverrun]) {
    // What the host asked for comes with a report, in a moment.
    guard phase != .terminating || awaited == nil else { return }
    enter(.terminating)
    note(overruns)
    finish(mainActorAnswers: true)
  }

  mutating func finish(mainActorAnswers: Bool) {
    let exitStatus = overruns.isEmpty ? ExitStatus.success : ExitStatus.tearDownOverran
    giveTerminalBack()
    emit(.disarmDeadline)
    emit(.finish(status: exitStatus, mainActorAnswers: mainActorAnswers))
    enter(.ended)
  }
}
