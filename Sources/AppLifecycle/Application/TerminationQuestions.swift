internal import PubSub

/// Asks the delegate whether the application may end, one question at a time.
///
/// A question is no transition: an input that has to wait for its answer is put aside, and others run meanwhile. One rule holds in this
/// file: no transition ever waits for an answer.
@MainActor final class TerminationQuestions {
  /// The application that is asked about.
  weak var application: Application?
  /// Marks what the answer waits for.
  let scope = WorkOwner()
  private let timing: ClockHandle
  private let tasks: TaskStarter
  private let deadlines: Deadlines
  /// The question while it is open.
  private var present: TerminationQuestion?
  /// Inputs that waited for an answer when the process ended without it.
  private var overtakenInputs: [PendingInput] = []

  init(timing: ClockHandle, tasks: TaskStarter, deadlines: Deadlines) {
    (self.timing, self.tasks, self.deadlines) = (timing, tasks, deadlines)
  }

  /// Whether the present task is the one that answers the open question, or was started by it.
  var isInsideOwnQuestion: Bool { present.map { TerminationQuestion.current === $0 && $0.answer == nil } ?? false }

  // MARK: Asking

  /// Takes an input to end, in its turn.
  ///
  /// - Returns: what became of it; nil if it was put aside until the delegate has answered, and the question answers its sender.
  func take(_ pending: PendingInput, of application: Application) async -> TransitionReport? {
    application.noteInput(pending.input)
    if let present {
      present.inputs.append(pending)
      application.tell(.terminationAsked)
      return nil
    }
    return await ask(pending, of: application)
  }

  /// Whether the end may begin now that follows an answer: then the question is closed.
  ///
  /// - Parameters:
  ///   - answered: the question, which may be over by now: the process has ended meanwhile, and its question with it.
  ///   - application: the application that is to end.
  /// - Returns: whether the end may begin.
  func beginEnd(after answered: TerminationQuestion, of application: Application) -> Bool {
    // The end comes when the application runs again: a suspended one would be told nothing.
    guard present === answered, application.present.state.runsCode else { return false }
    present = nil
    return true
  }

  /// Asks the delegate; goes on at once where that answers without suspending.
  private func ask(_ pending: PendingInput, of application: Application) async -> TransitionReport? {
    application.transitions.inputBegins(pending.cause)
    let name = ApplicationCallback.shouldTerminate.rawValue
    application.record(.delegate, name, pending.cause)
    let call = application.callBegins(LedgerEntry(.delegate, name, step: name, began: timing.now(), duration: .zero))
    let question = TerminationQuestion(
      pending, of: scope, began: timing.now(),
      deadline: timing.instant(after: application.configuration.shouldTerminateBudget), call: call)
    present = question
    await callDelegate(of: application, question)
    application.transitions.inputEnds()
    switch question.answer {
    case .now?:
      var end = pending
      end.question = question
      question.inputs = []
      present = nil
      return await TransitionRun(end, of: application).perform()
    case .cancel?:
      present = nil
      return refuse(pending, question, of: application)
    case nil:
      question.isPutAside = true
      setTimer(of: question)
      application.tell(.terminationAsked)
      return nil
    }
  }

  /// Calls the delegate, and returns once that has answered or suspended.
  private func callDelegate(of application: Application, _ question: TerminationQuestion) async {
    let firstStep = OneShot()
    let call: @Sendable @MainActor () async -> Void = { [self] in
      let answer = await HandlerContext.with(question.run) {
        await application.delegate.applicationShouldTerminate(application, cause: question.cause)
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

  // MARK: Answering

  /// The delegate has answered, perhaps to a question that is over.
  private func take(_ answer: TerminateReply, to question: TerminationQuestion) {
    guard present === question, question.answer == nil else { return }
    let isLate = question.timeLeft == nil && timing.now() > question.deadline
    answerQuestion(isLate ? .now : answer, isLate: isLate)
  }

  /// The budget has passed and the delegate has not answered.
  private func questionIsLate(_ question: TerminationQuestion) {
    guard present === question, question.answer == nil, question.timer != nil else { return }
    question.timer = nil
    question.task?.cancel()
    answerQuestion(.now, isLate: true)
  }

  private func answerQuestion(_ answer: TerminateReply, isLate: Bool) {
    guard let question = present, let application else { return }
    clearTimer(of: question)
    let name = ApplicationCallback.shouldTerminate.rawValue
    question.answer = answer
    question.run.isOver = true
    question.entry = LedgerEntry(
      .delegate, name, step: name, began: question.began, duration: timing.now() - question.began,
      outcome: isLate ? .overran : .completed)
    if isLate { application.record(.report, "watchdog:\(name)", question.cause) }
    // Answered in the turn of the input itself: what follows is done there.
    guard question.isPutAside else { return }
    switch answer {
    case .now: if application.present.state.runsCode { enqueueEnd(after: question) }
    case .cancel:
      present = nil
      for input in question.inputs { input.answer(refuse(input, question, of: application)) }
    }
  }

  private func enqueueEnd(after question: TerminationQuestion) {
    guard let application else { return }
    let end = PendingInput(input: .terminate, cause: question.cause, question: question)
    application.inbox.add(.input(end), for: application)
  }

  private func refuse(
    _ pending: PendingInput, _ question: TerminationQuestion, of application: Application
  ) -> TransitionReport {
    // One call, though several inputs may have waited for it.
    if let entry = question.entry { application.note(entry, of: question.call) }
    question.entry = nil
    let state = application.present.state
    let report = TransitionReport(outcome: .ignored(reason: .refused), cause: pending.cause, from: state, to: state)
    application.noteOutcome(report, of: pending.input)
    application.tell(.terminationRefused)
    return report
  }

  // MARK: Without an answer

  /// The application ends without the answer: that no longer counts.
  func abandon() {
    guard let question = present else { return }
    present = nil
    question.run.isOver = true
    clearTimer(of: question)
    question.task?.cancel()
    if let call = question.call {
      let name = ApplicationCallback.shouldTerminate.rawValue
      let duration = timing.now() - question.began
      let entry = LedgerEntry(
        .delegate, name, step: name, began: question.began, duration: duration, outcome: .cutShort)
      // Of an answer that no longer counts the ledger has nothing.
      application?.tell(.callEnded(entry, of: call))
    }
    overtakenInputs += question.inputs
  }

  /// The process has ended before they were answered: as if they had come after its end.
  func answerOvertakenInputs(in state: ApplicationState) {
    guard !overtakenInputs.isEmpty, !state.isInMemory else { return }
    let inputs = overtakenInputs
    overtakenInputs = []
    for input in inputs {
      input.answer(
        TransitionReport(outcome: .ignored(reason: .notRunning), cause: input.cause, from: state, to: state))
    }
  }

  /// The application is suspended: that costs the delegate no time.
  func pause() {
    guard let question = present, question.answer == nil else { return }
    clearTimer(of: question)
    question.timeLeft = max(.zero, question.deadline - timing.now())
  }

  /// The application runs again, and with it the delegate's time; or it ends, as the answer came meanwhile.
  func resume() {
    guard let question = present else { return }
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
