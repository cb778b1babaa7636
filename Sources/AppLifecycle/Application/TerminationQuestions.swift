internal import PubSub
internal import Scheduling

/// Asks the delegate whether the application may end, one question at a time.
///
/// A question is not a transition: an input that has to wait for its answer is set aside, and other inputs run
/// meanwhile. One rule holds in this file: no transition ever waits for an answer.
@MainActor final class TerminationQuestions {
  /// The application that may end.
  var application: Application? { reference.application }
  private let reference: ApplicationReference
  /// The scope of the delegate calls for which the senders of inputs wait.
  let scope = WorkScope()
  private let timing: ClockHandle
  /// The clock of the delegate's time.
  private let running: ClockHandle
  private let tasks: TaskStarter
  private let deadlines: Deadlines
  /// The open question; nil if there is none.
  private var present: TerminationQuestion?
  /// The inputs that waited for an answer when the process ended without one.
  private var overtakenInputs: [PendingInput] = []

  init(
    of reference: ApplicationReference, timing: ClockHandle, running: ClockHandle, tasks: TaskStarter,
    deadlines: Deadlines
  ) {
    self.reference = reference
    (self.timing, self.running, self.tasks, self.deadlines) = (timing, running, tasks, deadlines)
  }

  /// Whether the current task is the delegate's call of the open question, or was started by it.
  var isInsideOwnQuestion: Bool { present.map { TerminationQuestion.current === $0 && $0.answer == nil } ?? false }

  // MARK: Asking

  /// Takes an input that asks the application to end, and asks the delegate unless a question is open.
  ///
  /// - Returns: the outcome; nil if the input is set aside until the delegate has answered. The question then answers
  ///   the sender.
  func take(_ pending: PendingInput, of application: Application) async -> TransitionReport? {
    application.noteInput(pending.input)
    if let present {
      present.inputs.append(pending)
      application.tell(.terminationAsked)
      return nil
    }
    return await ask(pending, of: application)
  }

  /// Closes an answered question, if the end that follows it may begin now.
  ///
  /// - Parameters:
  ///   - answered: the question; it may be over, if the process has ended meanwhile.
  ///   - application: the application that is to end.
  /// - Returns: whether the end may begin.
  func beginEnd(after answered: TerminationQuestion, of application: Application) -> Bool {
    // A suspended application receives no calls, so the end waits until the application runs again.
    guard present === answered, application.present.state.runsCode else { return false }
    present = nil
    return true
  }

  /// Asks the delegate, and acts on its answer at once if the delegate answers without suspending.
  private func ask(_ pending: PendingInput, of application: Application) async -> TransitionReport? {
    application.transitions.inputBegins(pending.cause)
    let name = ApplicationCallback.shouldTerminate.rawValue
    application.record(.delegate, name, pending.cause)
    let call = application.callBegins(LedgerEntry(.delegate, name, step: name, began: timing.now(), duration: .zero))
    let question = TerminationQuestion(
      pending, of: scope, began: timing.now(),
      deadline: running.instant(after: application.configuration.shouldTerminateBudget), call: call?.id)
    present = question
    await callDelegate(of: application, question, application.intercepted(call))
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

  /// Calls the delegate, and returns when the delegate has answered or suspended.
  private func callDelegate(
    of application: Application, _ question: TerminationQuestion, _ intercepted: InterceptedCall?
  ) async {
    let firstStep = OneShot<Bool>()
    let call: @Sendable @MainActor () async -> Void = { [self] in
      let answer = await TerminationQuestion.$current.withValue(question) {
        await HandlerContext.with(question.run) {
          await intercepted.run {
            await application.delegate.applicationShouldTerminate(application, cause: question.cause)
          }
        }
      }
      timing.passTime?(ApplicationCallback.shouldTerminate.rawValue)
      take(answer, to: question)
      firstStep.settle(true)
    }
    question.task = tasks.startImmediately(call)
    guard question.task == nil else { return }
    question.task = tasks.startOnMainActor { [tasks] in
      // This task runs as soon as the delegate leaves the main actor.
      tasks.startOnMainActor { firstStep.settle(false) }
      await call()
    }
    _ = await tasks.waitOnMainActor { await firstStep.value }
  }

  // MARK: Answering

  /// Takes the delegate's answer, and ignores it if its question is over.
  private func take(_ answer: TerminateReply, to question: TerminationQuestion) {
    guard present === question, question.answer == nil else { return }
    let isLate = question.timeLeft == nil && running.now() > question.deadline
    answerQuestion(isLate ? .now : answer, isLate: isLate)
  }

  /// Cancels the delegate's call and lets the application end, because the delegate has not answered within its budget.
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
    if isLate { application.report(.watchdog, name, question.cause) }
    // If the delegate answered without suspending, `ask` acts on the answer.
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
    let end = PendingInput(input: .system(.terminate), cause: question.cause, question: question)
    application.inbox.add(.input(end), for: application)
  }

  private func refuse(
    _ pending: PendingInput, _ question: TerminationQuestion, of application: Application
  ) -> TransitionReport {
    // Note the call once, although several inputs may have waited for it.
    if let entry = question.entry { application.note(entry, of: question.call) }
    question.entry = nil
    let state = application.present.state
    let report = TransitionReport(outcome: .ignored(reason: .refused), cause: pending.cause, from: state, to: state)
    application.noteOutcome(report, of: pending.input)
    application.tell(.terminationRefused)
    return report
  }

  /// Notes the delegate's answer to a question, and its overrun if it was late, on the page of the end that follows.
  func note(_ question: TerminationQuestion) {
    guard let application, let entry = question.entry else { return }
    let page = application.ownLedger.page
    application.note(entry, of: question.call, on: page)
    guard question.isLate else { return }
    application.note(
      BudgetOverrun(
        callback: .shouldTerminate, budget: application.configuration.shouldTerminateBudget, culprits: [entry.name]),
      on: page)
  }

  // MARK: Without an answer

  /// Closes the open question, because the application ends without the answer.
  func abandon() {
    guard let question = present else { return }
    present = nil
    question.run.isOver = true
    clearTimer(of: question)
    question.task?.cancel()
    if question.isLate {
      note(question)
    } else if let call = question.call {
      let name = ApplicationCallback.shouldTerminate.rawValue
      let duration = timing.now() - question.began
      let entry = LedgerEntry(
        .delegate, name, step: name, began: question.began, duration: duration, outcome: .cutShort)
      // Observers learn that the call has ended; the ledger gets no entry for an answer that no longer counts.
      application?.tell(.callEnded(entry, of: call))
    }
    overtakenInputs += question.inputs
  }

  /// Answers the inputs whose question the end of the process overtook, as if they had arrived after that end.
  func answerOvertakenInputs(in state: ApplicationState) {
    guard !overtakenInputs.isEmpty, !state.isInMemory else { return }
    let inputs = overtakenInputs
    overtakenInputs = []
    for input in inputs {
      input.answer(
        TransitionReport(outcome: .ignored(reason: .notRunning), cause: input.cause, from: state, to: state))
    }
  }

  /// Stops the delegate's time, because the application is suspended.
  func pause() {
    guard let question = present, question.answer == nil else { return }
    clearTimer(of: question)
    question.timeLeft = max(.zero, question.deadline - running.now())
  }

  /// Continues the delegate's time, because the application runs again.
  ///
  /// If the delegate has answered `.now` meanwhile, the application ends.
  func resume() {
    guard let question = present else { return }
    if question.answer == .now { return enqueueEnd(after: question) }
    guard let timeLeft = question.timeLeft else { return }
    question.timeLeft = nil
    question.deadline = running.instant(after: timeLeft)
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
