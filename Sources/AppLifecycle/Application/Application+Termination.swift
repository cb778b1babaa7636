internal import PubSub

// The question whether the application may end. It is no transition: an input that has to wait for its answer is put aside, and
// others run meanwhile. One rule holds in this file: no transition ever waits for an answer.

extension Application {
  /// Takes an input in its turn.
  ///
  /// - Returns: what became of it; nil if it was put aside until the delegate has answered, and the question answers its sender.
  func take(_ pending: PendingInput) async -> TransitionReport? {
    if let answered = pending.question {
      // The process has ended meanwhile, and its question with it.
      guard question === answered else { return nil }
      // The end comes when the application runs again: a suspended one would be told nothing.
      guard present.state.runsCode else { return nil }
      question = nil
      return await run(pending)
    }
    guard pending.input == .terminate, present.state.runsCode else { return await run(pending) }
    noteInput(pending.input)
    if let question {
      question.inputs.append(pending)
      tell(.terminationAsked)
      return nil
    }
    return await ask(pending)
  }

  /// Whether the present task is the one that answers the open question, or was started by it.
  var isInsideOwnQuestion: Bool { question.map { TerminationQuestion.current === $0 && $0.answer == nil } ?? false }

  /// Asks the delegate; goes on at once where that answers without suspending.
  private func ask(_ pending: PendingInput) async -> TransitionReport? {
    transitionCause = pending.cause
    let name = ApplicationCallback.shouldTerminate.rawValue
    record(.delegate, name, pending.cause)
    let call = callBegins(LedgerEntry(.delegate, name, step: name, began: timing.now(), duration: .zero))
    let question = TerminationQuestion(
      pending, of: questionScope, began: timing.now(),
      deadline: timing.instant(after: configuration.shouldTerminateBudget), call: call)
    self.question = question
    await callDelegate(question)
    transitionCause = nil
    switch question.answer {
    case .now?:
      var end = pending
      end.question = question
      question.inputs = []
      self.question = nil
      return await run(end)
    case .cancel?:
      self.question = nil
      return refuse(pending, question)
    case nil:
      question.isPutAside = true
      setTimer(of: question)
      tell(.terminationAsked)
      return nil
    }
  }

  /// Calls the delegate, and returns once that has answered or suspended.
  private func callDelegate(_ question: TerminationQuestion) async {
    let firstStep = OneShot()
    let call: @Sendable @MainActor () async -> Void = { [self] in
      let answer = await HandlerContext.with(question.run) {
        await delegate.applicationShouldTerminate(self, cause: question.cause)
      }
      timing.passTime?(ApplicationCallback.shouldTerminate.rawValue)
      take(answer, to: question)
      firstStep.settle(true)
    }
    question.task = TerminationQuestion.$current.withValue(question) { tasks.startImmediately(call) }
    guard question.task == nil else { return }
    question.task = TerminationQuestion.$current.withValue(question) {
      tasks.startOnMainActor { [tasks] in
        // It runs as soon as the delegate lets go of the main actor.
        tasks.startOnMainActor { firstStep.settle(false) }
        await call()
      }
    }
    _ = await firstStep.value
  }

  /// The delegate has answered, perhaps to a question that is over.
  private func take(_ answer: TerminateReply, to question: TerminationQuestion) {
    guard self.question === question, question.answer == nil else { return }
    let isLate = question.timeLeft == nil && timing.now() > question.deadline
    answerQuestion(isLate ? .now : answer, isLate: isLate)
  }

  /// The budget has passed and the delegate has not answered.
  private func questionIsLate(_ question: TerminationQuestion) {
    guard self.question === question, question.answer == nil, question.timer != nil else { return }
    question.timer = nil
    question.task?.cancel()
    answerQuestion(.now, isLate: true)
  }

  private func answerQuestion(_ answer: TerminateReply, isLate: Bool) {
    guard let question else { return }
    clearTimer(of: question)
    let name = ApplicationCallback.shouldTerminate.rawValue
    question.answer = answer
    question.run.isOver = true
    question.entry = LedgerEntry(
      .delegate, name, step: name, began: question.began, duration: timing.now() - question.began,
      outcome: isLate ? .overran : .completed)
    if isLate { record(.report, "watchdog:\(name)", question.cause) }
    // Answered in the turn of the input itself: what follows is done there.
    guard question.isPutAside else { return }
    switch answer {
    case .now: if present.state.runsCode { enqueueEnd(after: question) }
    case .cancel:
      self.question = nil
      for input in question.inputs { input.answer(refuse(input, question)) }
    }
  }

  private func enqueueEnd(after question: TerminationQuestion) {
    enqueue(.input(PendingInput(input: .terminate, cause: question.cause, question: question)))
  }

  private func refuse(_ pending: PendingInput, _ question: TerminationQuestion) -> TransitionReport {
    // One call, though several inputs may have waited for it.
    if let entry = question.entry { note(entry, of: question.call) }
    question.entry = nil
    let state = present.state
    let report = TransitionReport(outcome: .ignored(reason: .refused), cause: pending.cause, from: state, to: state)
    noteOutcome(report, of: pending.input)
    tell(.terminationRefused)
    return report
  }

  /// The end begins whose question was answered: its page has the delegate's call, and what that overran.
  func note(_ question: TerminationQuestion) {
    guard let entry = question.entry else { return }
    note(entry, of: question.call, on: ledgerKeeper.transition)
    guard question.isLate else { return }
    note(
      BudgetOverrun(
        callback: .shouldTerminate, budget: configuration.shouldTerminateBudget, culprits: [entry.name]),
      on: ledgerKeeper.transition)
  }
}

// MARK: - Without an answer

extension Application {
  /// The application ends without the answer: that no longer counts.
  func abandonQuestion() {
    guard let question else { return }
    self.question = nil
    question.run.isOver = true
    clearTimer(of: question)
    question.task?.cancel()
    if let call = question.call {
      let name = ApplicationCallback.shouldTerminate.rawValue
      let duration = timing.now() - question.began
      let entry = LedgerEntry(
        .delegate, name, step: name, began: question.began, duration: duration, outcome: .cutShort)
      // Of an answer that no longer counts the ledger has nothing.
      tell(.callEnded(entry, of: call))
    }
    overtakenInputs += question.inputs
  }

  /// The process has ended before they were answered: as if they had come after its end.
  func answerOvertakenInputs() {
    guard !overtakenInputs.isEmpty, !present.state.isInMemory else { return }
    let inputs = overtakenInputs
    overtakenInputs = []
    for input in inputs {
      input.answer(
        TransitionReport(
          outcome: .ignored(reason: .notRunning), cause: input.cause, from: present.state, to: present.state))
    }
  }

  /// The application is suspended: that costs the delegate no time.
  func pauseQuestion() {
    guard let question, question.answer == nil else { return }
    clearTimer(of: question)
    question.timeLeft = max(.zero, question.deadline - timing.now())
  }

  /// The application runs again, and with it the delegate's time; or it ends, as the answer came meanwhile.
  func resumeQuestion() {
    guard let question else { return }
    if question.answer == .now { return enqueueEnd(after: question) }
    guard let timeLeft = question.timeLeft else { return }
    question.timeLeft = nil
    question.deadline = timing.instant(after: timeLeft)
    setTimer(of: question)
  }

  private func setTimer(of question: TerminationQuestion) {
    question.timer = deadlines.set(question.deadline) { [tasks, weak self] in
      tasks.startOnMainActor { [weak self] in self?.questionIsLate(question) }
    }
  }

  private func clearTimer(of question: TerminationQuestion) {
    if let timer = question.timer { deadlines.clear(timer) }
    question.timer = nil
  }
}
