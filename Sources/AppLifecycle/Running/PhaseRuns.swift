internal import PubSub

/// Performs what the calls of `run(while:)` decide: a task for each body.
@MainActor final class PhaseRuns {
  /// One call of `run(while:)`.
  private final class Call {
    let phase: LifecyclePhase
    let source: Subscriber
    let body: @MainActor () async -> (any Error)?
    let waiter: UnsafeContinuation<(any Error)?, Never>
    var state = PhaseRun()
    var task: Task<Void, Never>?
    /// Asks the body that runs to end.
    var closing = PhaseClosing()
    /// The deadline of a body that is to end while no budget runs.
    var timer: Deadlines.ID?
    /// When the body that runs was asked to end.
    var endingBegan = Duration.zero
    /// The number of its end for observers.
    var endingCall: TracedCall.ID?
    /// Whether the body that runs has been named already as late.
    var isLate = false
    var error: (any Error)?

    init(
      _ phase: LifecyclePhase, _ source: Subscriber, body: @escaping @MainActor () async -> (any Error)?,
      waiter: UnsafeContinuation<(any Error)?, Never>
    ) {
      (self.phase, self.source, self.body, self.waiter) = (phase, source, body, waiter)
    }
  }

  private let tasks: TaskStarter
  private let now: @Sendable () -> Duration
  private let scope: WorkOwner
  /// In the order in which they were called.
  private var calls: [(id: UInt64, call: Call)] = []
  private var lastID: UInt64 = 0
  /// Grows when the process vanishes: what belonged to it must not be heard of any more.
  private var generation = 0
  private var open: PhaseSet = []
  /// The application comes back: bodies that are yet to end in the present tear-down are cancelled at once.
  private var isHurried = false
  /// Told what bodies took to end, and when the last of a phase has.
  weak var application: Application?

  init(tasks: TaskStarter, now: @escaping @Sendable () -> Duration, scope: WorkOwner) {
    (self.tasks, self.now, self.scope) = (tasks, now, scope)
  }

  /// Runs a body while a phase holds; returns when the caller is cancelled or the body throws.
  func run(
    while phase: LifecyclePhase, _ source: Subscriber, _ body: @escaping @MainActor () async -> (any Error)?
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
      // One that was only asked to end keeps the phase waiting no longer.
      if call.state.isEnding { call.task?.cancel() }
      perform(call.state.phaseDidOpen(), id, call)
    }
  }

  /// A phase was left, though its bodies may still run: none begins any more.
  func phaseWillClose(_ phase: LifecyclePhase) { open.remove(PhaseSet(phase)) }

  /// Ends the bodies of a phase, the last begun first.
  func phaseDidClose(_ phase: LifecyclePhase) {
    open.remove(PhaseSet(phase))
    for (id, call) in calls.reversed() where call.phase == phase { perform(call.state.phaseDidClose(), id, call) }
  }

  /// Whether a body of the phase that was asked to end, and has not been named as late, still runs.
  func isEnding(_ phase: LifecyclePhase) -> Bool {
    calls.contains { $0.call.phase == phase && $0.call.state.isEnding && !$0.call.isLate }
  }

  /// Returns the names of the bodies that were asked to end and have not; they are no longer waited for.
  ///
  /// If other code has used up their time, they are noted in the ledger, and no name is returned.
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

  /// The application comes back: bodies that were only asked to end are cancelled.
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
    // Also a body that was only asked to end.
    call.task?.cancel()
  }

  private func perform(_ actions: [PhaseRun.Action], _ id: UInt64, _ call: Call) {
    for action in actions {
      switch action {
      case .start: start(id, call)
      case .cancel:
        call.endingBegan = now()
        call.endingCall = application?.callBegins(end(of: call, .completed))
        // What watches takes none of the body's time.
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

  /// A body that is to end while no budget runs has the time of a didEnterBackground.
  private func setTimer(of call: Call, _ id: UInt64) {
    guard let application, application.tearDown.deadline == nil else { return }
    let deadline = application.timing.instant(after: application.configuration.didEnterBackgroundBudget)
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
    // A budget that has begun since covers it, and its end comes.
    guard application.tearDown.deadline == nil else { return }
    call.isLate = true
    call.task?.cancel()
    noteEnd(of: call, .overran)
    application.operationIsLate(call.source.description, on: application.ownLedger.ownPage)
    application.tearDown.bodiesDidEnd()
  }

  private func run(_ id: UInt64, _ run: AwaitedRun) async {
    guard run.generation == generation, let call = calls.first(where: { $0.id == id })?.call else { return }
    // One that was cancelled, or whose phase was left, before it began has nothing to end.
    let error = Task.isCancelled || !open.contains(call.phase) ? nil : await call.body()
    run.isOver = true
    guard run.generation == generation else { return }
    call.task = nil
    clearTimer(of: call)
    let wasEnding = call.state.isEnding
    if wasEnding, !call.isLate { noteEnd(of: call, .completed) }
    let end: PhaseRun.End = error == nil || error is CancellationError ? .completed : .failed
    call.error = end == .failed ? error : nil
    perform(call.state.bodyDidEnd(end), id, call)
    // The call goes on: what this body threw is not what the call will end with.
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
