import AppLifecycle

// MARK: - The terminal

extension TerminalStateMachine {
  /// Reacts to the owner of the terminal.
  mutating func answer(_ look: Look) {
    let question = self.question
    self.question = nil
    if look == .gone, hasTerminal, question != .launch {
      loseTerminal()
      if question == .lendingEnded { finishLending() }
      return
    }
    let isOurs = look == .foreground
    switch question {
    case .launch:
      if isOurs {
        takeTerminal(.takeToLaunch)
      } else {
        launchInBackground(because: look == .none ? "launch" : "&")
      }
      if look == .gone { hasTerminal = false }
    case .resume(let foreground, let background):
      if isOurs {
        takeTerminal(.takeToOpen(foreground: foreground, background: background))
      } else {
        stay(because: background)
      }
    case .continuedWhileLeaving: answerContinuedWhileLeaving(isOurs: isOurs)
    case .continuedUnexpectedly:
      // The shell has set its own modes, and has drawn over the screen.
      takeTerminal(ifOurs: isOurs, because: .continue)
    case .refusedByTerminal(let cause):
      guard !isOurs else { return }
      leave(because: cause)
    case .lendingEnded:
      if isOurs { return takeTerminal(.takeAfterLending) }
      leave(because: "lend")
      finishLending()
    case .screenWasLeft:
      takeTerminal(ifOurs: isOurs, because: .backgroundWrite)
    case nil:
      if isOurs, phase == .background { takeTerminal(.takeToOpen(foreground: "fg", background: "bg")) }
    case .takeToLaunch, .takeToOpen, .takeToRedraw, .takeAfterLending, .screen, .stop: break
    }
  }

  /// Reacts to the result of taking the terminal.
  ///
  /// A shell may have taken it back after the host had looked at its owner.
  mutating func answerTaken(_ isTaken: Bool) {
    let question = self.question
    self.question = nil
    if isTaken, !isLent { holdTerminal() }
    switch question {
    case .takeToLaunch:
      guard isTaken else { return launchInBackground(because: "&") }
      enter(.foreground)
      send(.launch, "launch", needsDisplay: true)
    case .takeToOpen(let foreground, let background):
      guard isTaken else { return stayAfterAll(because: background) }
      stopWaiting()
      // Also while a child process has the terminal, so that the program does not hold it.
      afterLeaving = nil
      endFocusLost()
      enter(.foreground)
      applicationIsSuspended = false
      send(.open, foreground, needsDisplay: !isLent)
    case .takeToRedraw(let cause):
      guard isTaken else { return leave(because: cause) }
      endFocusLost()
      if !isLent { emit(.requestDisplay) }
    case .takeAfterLending:
      if !isTaken { leave(because: "lend") }
      finishLending(needsDisplay: isTaken)
    case .launch, .resume, .continuedWhileLeaving, .continuedUnexpectedly, .refusedByTerminal, .screen,
      .screenWasLeft, .lendingEnded, .stop, nil:
      break
    }
  }

  private mutating func launchInBackground(because cause: LifecycleCause) {
    enter(.background)
    send(.launchInBackground, cause)
  }

  /// Stays in the background, because the terminal was lost again while it was being taken.
  private mutating func stayAfterAll(because cause: LifecycleCause) {
    switch phase {
    case .leaving, .suspending: answerContinuedWhileLeaving(isOurs: false)
    case .starting, .foreground, .background, .stopped, .terminating, .ended: stay(because: cause)
    }
  }

  /// Continues without the terminal.
  private mutating func stay(because cause: LifecycleCause) {
    enter(.background)
    guard applicationIsSuspended else { return }
    applicationIsSuspended = false
    send(.wake, cause)
  }

  /// Takes the terminal to draw the screen again, or goes to the background if another job has it.
  private mutating func takeTerminal(ifOurs isOurs: Bool, because signal: CaughtSignal) {
    let cause = LifecycleCause(signal: signal)
    if isOurs { takeTerminal(.takeToRedraw(orLeave: cause)) } else { leave(because: cause) }
  }

  /// Leaves the foreground, because another job has taken the terminal without a signal.
  private mutating func leave(because cause: LifecycleCause) {
    leaveLostTerminal()
    goToBackground(because: cause)
  }

  private mutating func goToBackground(because cause: LifecycleCause) {
    forgetRefusal()
    enter(.leaving)
    wait(for: send(.home, cause), within: budgets.didEnterBackground)
    // End it only after the application has resigned; before that, the application would become active for a moment.
    endFocusLost()
  }

  /// Reacts to the loss of the terminal, or, without a controlling terminal, of the one in which the program was
  /// started.
  mutating func loseTerminal() {
    hasTerminal = false
    dropTerminal()
    guard ignoresHangUp else {
      termination = termination ?? "hang-up"
      if phase == .stopped { enter(.background) }
      return
    }
    switch phase {
    case .foreground: goToBackground(because: "hang-up")
    // No shell is left that could continue a stopped process.
    case .suspending, .stopped: abandonStop(because: "hang-up")
    case .starting, .background, .leaving, .terminating, .ended: break
    }
    // The loan would begin when the program has the terminal again.
    if lending == .asked {
      refuseLending()
      send(.endInterruption(.terminalLent), "hang-up")
    }
  }
}

// MARK: - Stopping

extension TerminalStateMachine {
  /// Reacts to the prediction whether the process can be stopped.
  ///
  /// If it cannot, nothing is torn down.
  mutating func answerStop(isPossible: Bool, screenWasLeft: Bool) {
    guard case .stop(let cause) = question else { return }
    question = nil
    guard isPossible else {
      // The kernel stops a child in a group of its own all the same, and no shell would continue it. A message would
      // garble the child's screen.
      if isLent { return emit(.continueBorrower) }
      if !hasReportedRefusal { emit(.reportRefusedStop) }
      hasReportedRefusal = true
      if screenWasLeft, holdsTerminal { takeTerminal(.takeToRedraw(orLeave: cause)) }
      return
    }
    if phase == .foreground { giveTerminalBack(within: budgets.didEnterBackground + budgets.grace) }
    forgetRefusal()
    enter(.suspending(cause))
    applicationIsSuspended = true
    wait(for: send(.suspend, cause, inOrder: true), within: budgets.didEnterBackground)
    endFocusLost()
  }

  /// Stops the process once the terminal has accepted the leaving sequences.
  mutating func stop() {
    guard !isLeavingTerminal else {
      afterLeaving = .stop
      return
    }
    enter(.stopped)
    reportOverruns()
    emit(.stopSelf)
  }

  private mutating func abandonStop(because cause: LifecycleCause) {
    stopWaiting()
    afterLeaving = nil
    reportOverruns()
    stay(because: cause)
  }

  /// Cancels a stop that has not happened yet, because of a SIGCONT.
  ///
  /// The application itself cancels and awaits its tear-down.
  private mutating func answerContinuedWhileLeaving(isOurs: Bool) {
    let cause = LifecycleCause(signal: .continue)
    if isOurs {
      takeTerminal(.takeToOpen(foreground: cause, background: cause))
    } else {
      leaveLostTerminal()
      if case .suspending = phase { abandonStop(because: cause) }
    }
  }

  /// Whether signals that have arrived just before the stop cancel it: orders to end, and SIGCONT.
  func cancelsStop(_ records: [SignalRecord]) -> Bool {
    records.contains { record in
      switch record.signal {
      case .terminate, .interrupt, .quit, .hangUp: !isForBorrower(record)
      case .continue: true
      case .stop, .backgroundRead, .backgroundWrite, .windowChange: false
      }
    }
  }

  /// Continues after a stop.
  mutating func resume(wasContinued: Bool) {
    guard phase == .stopped else { return }
    if termination != nil {
      enter(.background)
    } else if wasContinued {
      ask(.lookAtTerminal, .resume(foreground: "fg", background: "bg"))
    } else {
      ask(.lookAtTerminal, .resume(foreground: "stop refused", background: "stop refused"))
    }
  }
}

// MARK: - Waiting

extension TerminalStateMachine {
  mutating func finishTransition(_ id: Int) {
    guard id == awaited else { return }
    stopWaiting()
    advance(mainActorAnswers: true)
  }

  mutating func passDeadline() {
    guard awaited != nil || phase == .terminating, afterLeaving == nil else { return }
    awaited = nil
    noteSilence()
    advance(mainActorAnswers: false)
  }

  /// Stores the overruns of a budget that has ended, unless the host has reported them already.
  ///
  /// If the program goes on without a wait of the host, it reports them at once.
  mutating func endBudget(_ overruns: [BudgetOverrun]) {
    guard budgetUnderWay.take() != nil else { return }
    note(overruns)
    if phase == .foreground || phase == .background { reportOverruns() }
  }

  /// Stores the overruns that the application has reported.
  mutating func note(_ overruns: [BudgetOverrun]) { self.overruns += overruns.map(\.namingEachOnce) }

  /// Notes an overrun of a main actor that has not answered in time, and so could not name the budget.
  private mutating func noteSilence() {
    let budget = budgetUnderWay.take()
    switch phase {
    case .leaving, .suspending: overruns.append(budgets.silence(in: .didEnterBackground))
    case .terminating: overruns.append(budgets.silence(in: budget ?? .willTerminate))
    case .starting, .foreground, .background, .stopped, .ended: break
    }
  }

  /// Ends the wait of the phase, because the application has finished or its time has passed.
  private mutating func advance(mainActorAnswers: Bool) {
    switch phase {
    case .leaving:
      reportOverruns()
      enter(.background)
    case .suspending(let cause):
      // The process stops all the same, and records and status show it as suspended.
      if !mainActorAnswers { send(.suspend, cause) }
      stop()
    case .terminating: finish(mainActorAnswers: mainActorAnswers)
    case .starting, .foreground, .background, .stopped, .ended: break
    }
  }
}
