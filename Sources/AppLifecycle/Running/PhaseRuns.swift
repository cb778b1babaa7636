internal import PubSub
internal import Scheduling

/// Performs the actions of all calls of `run(while:)`, with a task for each body.
@MainActor final class PhaseRuns {
  /// One call of `run(while:)`.
  private final class Call {
    let phase: LifecyclePhase
    let source: EventBus.Subscriber
    let body: @MainActor () async -> (any Error)?
    let waiter: UnsafeContinuation<(any Error)?, Never>
    var state = PhaseRun()
    var task: Task<Void, Never>?
    /// The request to end to the running body.
    var closing = PhaseClosing()
    /// The deadline of a body that must end while no budget runs.
    var timer: Deadlines.ID?
    /// The time when the running body was asked to end.
    var endingBegan = Duration.zero
    /// The number of the body's end for observers.
    var endingCall: TracedCall.ID?
    /// Whether the running body has already been reported as late.
    var isLate = false
    var error: (any Error)?

    init(
      _ phase: LifecyclePhase, _ source: EventBus.Subscriber, body: @escaping @MainActor () async -> (any Error)?,
      waiter: UnsafeContinuation<(any Error)?, Never>
    ) {
      (self.phase, self.source, self.body, self.waiter) = (phase, source, body, waiter)
    }
  }

  private let tasks: TaskStarter
  private let now: @Sendable () -> Duration
  private let scope: WorkOwner
  /// The calls, in order.
  private var calls: [(id: UInt64, call: Call)] = []
  private var lastID: UInt64 = 0
  /// A number that grows when the process vanishes, so that code of an earlier process has no effect.
  private var generation = 0
  private var open: PhaseSet = []
  /// Whether the application returns to the foreground, so that bodies of the current tear-down are cancelled at once.
  private var isHurried = false
  /// The application, which is notified how long bodies took to end, and when the last body of a phase has ended.
  weak var application: Application?

  init(tasks: TaskStarter, now: @escaping @Sendable () -> Duration, scope: WorkOwner) {
    (self.tasks, self.now, self.scope) = (tasks, now, scope)
  }

  /// Runs a body while a phase holds; returns when the caller is cancelled or the body throws.
  func run(
    while phase: LifecyclePhase, _ source: EventBus.Subscriber, _ body: @escaping @MainActor () async -> (any Error)?
  ) async -> (any Error)? {
    lastID += 1
    let id = lastID
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { waiter in
        let call = Call(phase, source, body: body, waiter: waiter)
        calls.append((id, call))
        if open.contains(phase) { perform(call.state.phaseDidOpen(), id, call) }
      }
    } onCancel: {
      tasks.startOnMainActor { self.callerWasCancelled(id) }
    }
  }

  // MARK: Phases

  func phaseDidOpen(_ phase: LifecyclePhase) {
    open.insert(PhaseSet(phase))
    isHurried = false
    for (id, call) in calls where call.phase == phase {
      // Cancel a body that was only asked to end, because its next run waits for its end.
      if call.state.isEnding { call.task?.cancel() }
      perform(call.state.phaseDidOpen(), id, call)
    }
  }

  /// Handles the end of a phase: its bodies may still run, but none begins.
  func phaseWillClose(_ phase: LifecyclePhase) { open.remove(PhaseSet(phase)) }

  /// Ends the bodies of a phase, the last begun first.
  func phaseDidClose(_ phase: LifecyclePhase) {
    open.remove(PhaseSet(phase))
    for (id, call) in calls.reversed() where call.phase == phase { perform(call.state.phaseDidClose(), id, call) }
  }

  /// Whether a body of the phase that was asked to end still runs, and has not been reported as late.
  func isEnding(_ phase: LifecyclePhase) -> Bool {
    calls.contains { $0.call.phase == phase && $0.call.state.isEnding && !$0.call.isLate }
  }

  /// Returns the names of the bodies that were asked to end and still run, and stops waiting for them.
  ///
  /// If other code has used up their time, the bodies are only added to the ledger, and no names are returned.
  func nameLate(in phases: PhaseSet, blames: Bool) -> [String] {
    var names: [String] = []
    for (_, call) in calls where phases.contains(call.phase) && call.state.isEnding && !call.isLate {
      call.isLate = true
      call.task?.cancel()
      names.append(call.source.description)
      noteEnd(of: call, blames ? .overran : .cutShort)
    }
    return blames ? names : []
  }

  /// Cancels the bodies that were only asked to end, because the application returns to the foreground.
  func hurry() {
    isHurried = true
    for (_, call) in calls where call.state.isEnding { call.task?.cancel() }
  }

  func loseProcess() {
    generation += 1
    open = []
    for (id, call) in calls {
      call.task?.cancel()
      call.task = nil
      call.isLate = false
      clearTimer(of: call)
      perform(call.state.processWasLost(), id, call)
    }
  }

  // MARK: Bodies

  private func callerWasCancelled(_ id: UInt64) {
    guard let call = calls.first(where: { $0.id == id })?.call else { return }
    perform(call.state.callerWasCancelled(), id, call)
    // This includes a body that was only asked to end.
    call.task?.cancel()
  }

  private func perform(_ actions: [PhaseRun.Action], _ id: UInt64, _ call: Call) {
    for action in actions {
      switch action {
      case .start: start(id, call)
      case .cancel:
        call.endingBegan = now()
        call.endingCall = application?.callBegins(end(of: call, .completed))
        // The time of observers does not count toward the body.
        if call.endingCall != nil { call.endingBegan = now() }
        if !call.closing.close() || isHurried { call.task?.cancel() }
        setTimer(of: call, id)
      case .finish:
        calls.removeAll { $0.id == id }
        call.waiter.resume(returning: call.error)
      }
    }
  }

  private func start(_ id: UInt64, _ call: Call) {
    call.isLate = false
    let closing = PhaseClosing()
    call.closing = closing
    let run = AwaitedRun(of: scope, generation: generation, closing: closing)
    call.task = tasks.startOnMainActor(for: call.source) {
      await HandlerContext.with(run) { await self.run(id, run) }
    }
  }

  /// Sets the deadline of a body that must end while no budget runs: the budget of didEnterBackground from now.
  private func setTimer(of call: Call, _ id: UInt64) {
    guard let application, application.tearDown.deadline == nil else { return }
    let deadline = application.running.instant(after: application.configuration.didEnterBackgroundBudget)
    call.timer = application.deadlines.set(deadline) { [tasks, weak self] in
      tasks.startOnMainActor { [weak self] in self?.bodyIsLate(id) }
    }
  }

  private func clearTimer(of call: Call) {
    if let timer = call.timer { application?.deadlines.clear(timer) }
    call.timer = nil
  }

  private func bodyIsLate(_ id: UInt64) {
    guard let call = calls.first(where: { $0.id == id })?.call, call.timer != nil, call.state.isEnding, !call.isLate,
      let application
    else { return }
    call.timer = nil
    // A budget that has begun meanwhile covers the body, and its end handles it.
    guard application.tearDown.deadline == nil else { return }
    call.isLate = true
    call.task?.cancel()
    noteEnd(of: call, .overran)
    application.operationIsLate(call.source.description, "end", on: application.ownLedger.ownPage)
    application.tearDown.bodiesDidEnd()
  }

  private func run(_ id: UInt64, _ run: AwaitedRun) async {
    guard run.generation == generation, let call = calls.first(where: { $0.id == id })?.call else { return }
    // A body that was cancelled, or whose phase closed, before it began does not run.
    let error = Task.isCancelled || !open.contains(call.phase) ? nil : await call.body()
    run.isOver = true
    guard run.generation == generation else { return }
    call.task = nil
    clearTimer(of: call)
    let wasEnding = call.state.isEnding
    let end: PhaseRun.End = error == nil || error is CancellationError ? .completed : .failed
    call.error = end == .failed ? error : nil
    if !wasEnding { (call.endingBegan, call.endingCall) = (now(), nil) }
    if let failure = call.error {
      noteEnd(of: call, .failed(String(describing: failure)))
      application?.report(failure, of: call.source, "run(while: .\(call.phase))", hasRecipient: true)
    } else if wasEnding, !call.isLate {
      noteEnd(of: call, .completed)
    }
    perform(call.state.bodyDidEnd(end), id, call)
    // The call continues, so it must not throw the error of this body later.
    call.error = nil
    if wasEnding, !isEnding(call.phase) { application?.tearDown.bodiesDidEnd() }
  }

  private func noteEnd(of call: Call, _ outcome: LedgerEntry.Outcome) {
    guard let application else { return }
    application.note(
      end(of: call, outcome), of: call.endingCall, on: application.ownLedger.ownPage, isTearDown: true)
  }

  private func end(of call: Call, _ outcome: LedgerEntry.Outcome) -> LedgerEntry {
    LedgerEntry(
      .runBody, call.source, step: "run(while: .\(call.phase))", began: call.endingBegan,
      duration: now() - call.endingBegan, outcome: outcome)
  }
}
