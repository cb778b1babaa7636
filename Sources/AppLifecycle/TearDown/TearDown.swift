internal import PubSub
internal import Scheduling

/// The tear-down of a closing step: the phases that close, and the budget for it.
///
/// One budget covers the step's delegate calls, its handlers, the bodies of `run(while:)`, and the releases.
@MainActor final class TearDown {
  /// The application, which is notified of overruns.
  var application: Application? { reference.application }
  private let reference: ApplicationReference
  private let resources: ResourceManager
  private let configuration: Application.Configuration
  private let time: ProcessTime
  private let tasks: TaskStarter
  private let deadlines: Deadlines
  /// Whether an overrun ends the process, as it does on a device; otherwise it is only reported.
  var enforcesBudgets = false
  /// The position of each phase between open and closed.
  private var gate = PhaseGate()
  /// The posts of closing notifications whose asynchronous handlers still run.
  private var pendingPosts: [PendingPost] = []
  /// The running budget; nil if none runs.
  private var budget: RunningBudget?
  /// The wait of a transition for the rest of the step; nil while no transition waits.
  private var wait: OneShot<Bool>?
  /// The save of the program's state, which is the last part of a step.
  private var save = SaveStage.none
  private var lastSave = 0
  /// The question whether the thread pool runs tasks, which is asked when half of the time of a wait has passed.
  private var probe: ThreadPoolProbe?

  init(
    of reference: ApplicationReference, _ resources: ResourceManager, configuration: Application.Configuration,
    time: ProcessTime, tasks: TaskStarter, deadlines: Deadlines
  ) {
    self.reference = reference
    (self.resources, self.configuration) = (resources, configuration)
    (self.time, self.tasks, self.deadlines) = (time, tasks, deadlines)
  }

  /// Whether a transition waits for the rest of its step.
  var isAwaited: Bool { wait != nil }

  /// The end of the running budget, by the clock that stands still while the process does; nil if none runs.
  var deadline: Duration? { budget?.deadline }

  /// Ends all waits, because the process has vanished.
  func loseProcess() {
    for index in pendingPosts.indices {
      clearTimer(of: index)
      pendingPosts[index].post.abandon()
    }
    pendingPosts = []
    gate = PhaseGate()
    (budget, save) = (nil, .none)
    resources.loseProcess()
  }
}

// MARK: - The budget

extension TearDown {
  /// Begins a budget with a delegate call, unless one runs already; one budget covers all scenes of a step.
  func beginBudget(of callback: ApplicationCallback) {
    guard budget == nil else { return }
    let length =
      callback == .willTerminate ? configuration.willTerminateBudget : configuration.didEnterBackgroundBudget
    budget = RunningBudget(of: callback, length, until: time.running.instant(after: length))
    application?.tell(.budgetBegan(callback, length))
    // The budget also covers posts whose handlers still run.
    for index in pendingPosts.indices { clearTimer(of: index) }
  }

  /// Waits until the closing step is complete or its budget has passed, and reports the code that overran the budget.
  ///
  /// - Parameters:
  ///   - application: the application of the step.
  ///   - cause: the cause of the step.
  /// - Returns: whether the process goes on; false if the system ends it because of an overrun.
  func finish(of application: Application, cause: LifecycleCause) async -> Bool {
    guard let budget else { return true }
    save = .due
    if budget.culprits.isEmpty {
      saveIfRestIsOver()
      if !isOver { await waitUntilOver(or: budget.deadline, of: application) }
    }
    if endBudget(of: application, cause: cause) { return true }
    guard !enforcesBudgets else { return false }
    // What is late must not cost the user's work, too; neither must a release that never returns, nor a save that is under way
    // when the process ends.
    let isUnsaved = save != .none
    save = .none
    if isUnsaved { application.saveAtOnce() }
    releaseUnawaited()
    if isUnsaved { application.saveAtOnce() }
    return true
  }

  /// Ends the running budget, and reports the code that overran it.
  ///
  /// - Returns: whether the step kept its budget.
  private func endBudget(of application: Application, cause: LifecycleCause) -> Bool {
    guard let began = budget else { return true }
    if isAwaited || !began.culprits.isEmpty { nameLate() }
    wait = nil
    let culprits = budget?.culprits ?? []
    let shortage = probe.flatMap { ThreadShortage($0) }
    (budget, probe) = (nil, nil)
    for index in pendingPosts.indices { setTimer(of: index) }
    guard !culprits.isEmpty else { return true }
    for name in culprits { application.report(.watchdog, name, cause) }
    application.note(
      BudgetOverrun(
        callback: began.callback, budget: began.length, culprits: culprits,
        threadShortage: shortage),
      on: application.ownLedger.page)
    return false
  }

  private func waitUntilOver(or deadline: Duration, of application: Application) async {
    let wait = OneShot<Bool>()
    self.wait = wait
    application.inbox.hurryTearDownIfReturning(of: application)
    resources.performNow()
    saveIfRestIsOver()
    // In most cases the tear-down is complete by now, and no wait is needed.
    if !isOver {
      let timer = deadlines.set(deadline) { wait.settle(false) }
      let halfTime = askPool(before: deadline)
      _ = await tasks.waitOnMainActor { await wait.value }
      deadlines.clear(timer)
      if let halfTime { deadlines.clear(halfTime) }
    }
    // Code that ended late, but before the wait ended, has been noted; `endBudget` names the other late code.
    if isOver { self.wait = nil }
  }

  /// Asks at half of the time that is left whether the thread pool runs tasks.
  ///
  /// A loaded machine, too, answers late, so a budget that leaves it less than half a second to answer tells nothing.
  private func askPool(before deadline: Duration) -> Deadlines.ID? {
    let half = (deadline - time.running.now()) / 2
    guard deadlines.areReal, half >= .milliseconds(500) else { return nil }
    return deadlines.set(deadline - half) { [tasks, weak self] in
      tasks.startOnMainActor { [weak self] in
        // Code that blocks the main actor may have used up the time for an answer.
        guard let self, self.deadline == deadline, deadline - time.running.now() >= .milliseconds(500) else { return }
        probe = ThreadPoolProbe()
      }
    }
  }

  /// Whether the step is complete; it does not wait again for code that was late.
  private var isOver: Bool { restIsOver && save == .none }

  /// Whether everything but the save is complete.
  private var restIsOver: Bool { pendingPosts.isEmpty && gate.lingering.isEmpty && resources.isTornDown }

  /// Ends the wait if the step is complete.
  func didProgress() {
    guard let wait else { return }
    saveIfRestIsOver()
    if isOver { wait.settle(true) }
  }

  /// Saves the program's state once the handlers and releases, which may change it, have ended.
  private func saveIfRestIsOver() {
    guard save == .due, restIsOver else { return }
    // A handler or a release of this step may have been the first to use the state.
    guard let keeper = application?.stateKeeper else { return save = .none }
    lastSave += 1
    let present = SaveStage.runs(lastSave)
    save = present
    keeper.saveBeforeLeaving { [weak self] in
      // The save of an earlier step may end late, while that of this step runs.
      guard let self, save == present else { return }
      save = .none
      didProgress()
    }
  }

  /// Cancels the handlers, bodies and operations of the tear-down, because the application returns to the foreground.
  ///
  /// The tear-down still waits for their end.
  func hurry() {
    for pending in pendingPosts { pending.post.cancel() }
    resources.cancelTearDown()
  }

  /// Names the code that still runs when the budget has passed, unless a synchronous call has used up its time.
  private func nameLate() {
    let blames = isAwaited && budget?.wasUsedUpBefore != true
    let lacksThreads = probe?.isUnanswered ?? false
    var running: [String] = []
    // A handler that is late for one of two scenes cannot have begun with the other, so one report is enough.
    var blamed: Set<ObjectIdentifier> = []
    for pending in pendingPosts {
      running += pending.post.expire(blames: blames, blamesQueued: lacksThreads, besides: &blamed).map(\.description)
    }
    let (begun, notBegun) = resources.nameLate(blames: blames)
    // After `expire`, which also notes handlers that have ended late.
    var late = (budget?.culprits ?? []) + running + begun
    if case .runs = save { late.append("saved state") }
    guard blames else { return }
    // If no code has begun, unknown code has blocked the main actor.
    if late.isEmpty { late = notBegun.isEmpty ? [budget?.callback.rawValue].compactMap(\.self) : notBegun }
    budget?.culprits = late
  }

  /// Stops waiting for late code, and releases the resources without it.
  private func releaseUnawaited() {
    for index in pendingPosts.indices { clearTimer(of: index) }
    pendingPosts = []
    for phase in PhaseGate.phases.reversed() {
      if gate[phase] == .handlers { endBodies(of: phase) }
      if gate[phase] == .bodies { gate[phase] = .closed }
    }
    updateResources()
    resources.giveUpLate()
    // On a real host, begin the queued releases now: the process may end with this transition.
    resources.performNow()
  }

  /// Blames a call if the budget ended during it.
  ///
  /// Synchronous calls run one after another, and the call that runs at the end of the budget is to blame. Concurrent
  /// calls are each late by themselves.
  ///
  /// - Parameter entry: a call that has ended, and was not reported as late.
  /// - Returns: whether the deadline passed during the call, so that it is to blame.
  func blames(_ entry: LedgerEntry) -> Bool {
    // First what most calls fail; time that is lost only moves the deadline on.
    guard let deadline, entry.began + entry.duration > deadline, let budget, entry.outcome.isEndInTime else {
      return false
    }
    // Code that is not measured has used it up.
    if !isAwaited, !budget.wasUsedUpBefore, budget.culprits.isEmpty, entry.began > deadline + time.lost {
      self.budget?.culprits = [budget.callback.rawValue]
    }
    let mayBlame = !budget.wasUsedUpBefore && (isAwaited || budget.culprits.isEmpty)
    guard budget.isUsedUp(from: entry.began, to: entry.began + entry.duration, lost: time.lost), mayBlame else {
      return false
    }
    self.budget?.culprits.append(entry.kind == .delegate ? entry.step : entry.name)
    return true
  }

  /// Blames an observer if the budget ended during its call.
  ///
  /// - Returns: whether the observer is to blame.
  func blames(_ observer: EventBus.Subscriber, from began: Duration, to end: Duration) -> Bool {
    guard let deadline, end > deadline, let budget, budget.culprits.isEmpty,
      budget.isUsedUp(from: began, to: end, lost: time.lost)
    else { return false }
    self.budget?.culprits.append(observer.description)
    self.budget?.wasUsedUpBefore = true
    return true
  }

  /// Blames no code of the step if background tasks, which have been reported, have used up the budget.
  func tasksWereLate() {
    if let deadline, time.running.now() > deadline { budget?.wasUsedUpBefore = true }
  }
}

// MARK: - Phases

extension TearDown {
  /// Opens or closes the phase of a callback, after its synchronous handlers have run.
  func movePhases(after callback: ApplicationCallback, isInForeground: Bool) {
    switch callback.row.phase {
    case .opens(let phase): open(phase)
    case .closes(let phase): close(phase)
    case .none: break
    }
    // At a cold launch without scenes there is no willEnterForeground.
    if callback == .didFinishLaunching, isInForeground { open(.foreground) }
  }

  private func open(_ phase: LifecyclePhase) {
    guard gate[phase] != .open else { return }
    gate[phase] = .open
    updateResources()
  }

  private func close(_ phase: LifecyclePhase) {
    guard gate[phase] == .open else { return }
    gate[phase] = .handlers
    updateResources()
    advanceGate()
  }

  /// Moves each closing phase as far as the running handlers and bodies allow.
  ///
  /// A wider phase waits for handlers and bodies of a narrower one, which may use its resources.
  private func advanceGate() {
    var hasAdvanced = false
    for phase in PhaseGate.phases.reversed() {
      if gate[phase] == .handlers, !hasPendingHandlers(within: phase) {
        endBodies(of: phase)
        hasAdvanced = true
      }
      if gate[phase] == .bodies, !hasEndingBodies(within: phase) {
        gate[phase] = .closed
        hasAdvanced = true
      }
    }
    if hasAdvanced { updateResources() }
  }

  /// Ends the bodies of `run(while:)`, after all handlers have ended or have been given up.
  private func endBodies(of phase: LifecyclePhase) {
    gate[phase] = .bodies
    updateResources()
  }

  private func hasPendingHandlers(within phase: LifecyclePhase) -> Bool {
    pendingPosts.contains { phase.includes($0.closes) }
  }

  private func hasEndingBodies(within phase: LifecyclePhase) -> Bool {
    PhaseGate.phases.contains { phase.includes($0) && resources.isEndingBodies(of: $0) }
  }

  /// Continues the tear-down after the last body of a phase has ended.
  func bodiesDidEnd() {
    advanceGate()
    didProgress()
  }

  private func updateResources() {
    resources.setOpenPhases(gate.open, lingering: gate.lingering, ending: gate.endingBodies)
  }
}

// MARK: - Handlers that run on

extension TearDown {
  /// Waits for the asynchronous handlers of a post, in a task of its own.
  func keep(_ pending: PendingPost) {
    pendingPosts.append(pending)
    setTimer(of: pendingPosts.count - 1)
    let post = pending.post
    tasks.startOnMainActor { [tasks, weak self] in
      await tasks.waitOnMainActor { await post.finish() }
      self?.didSettle(post)
    }
  }

  private func didSettle(_ post: MeasuredPost) {
    guard let index = pendingPosts.firstIndex(where: { $0.post === post }) else { return }
    clearTimer(of: index)
    pendingPosts.remove(at: index)
    advanceGate()
    didProgress()
  }

  /// Sets the deadline of a post's handlers while no budget runs: the budget of didEnterBackground.
  private func setTimer(of index: Int) {
    guard budget == nil, pendingPosts[index].timer == nil else { return }
    let post = pendingPosts[index].post
    pendingPosts[index].timer = deadlines.set(pendingPosts[index].deadline) { [tasks, weak self] in
      tasks.startOnMainActor { [weak self] in self?.handlersAreLate(of: post) }
    }
  }

  private func clearTimer(of index: Int) {
    if let timer = pendingPosts[index].timer { deadlines.clear(timer) }
    pendingPosts[index].timer = nil
  }

  /// Reports late handlers for which no transition waits, and continues the tear-down without them.
  private func handlersAreLate(of post: MeasuredPost) {
    guard let application, let index = pendingPosts.firstIndex(where: { $0.post === post }),
      pendingPosts[index].timer != nil
    else { return }
    let pending = pendingPosts.remove(at: index)
    var blamed: Set<ObjectIdentifier> = []
    let late = post.expire(blames: true, besides: &blamed).map(\.description)
    for name in late { application.report(.watchdog, name, pending.cause) }
    if !late.isEmpty {
      // The disconnection of a reclaimed scene closes no phase: its handlers have the budget of didEnterBackground, and
      // its name in the report.
      let callback = pending.closes == .active ? ApplicationCallback.willResignActive : .didEnterBackground
      application.note(
        BudgetOverrun(callback: callback, budget: configuration.didEnterBackgroundBudget, culprits: late),
        on: pending.page)
    }
    advanceGate()
    didProgress()
  }
}

/// The save of the program's state at the end of a step.
private enum SaveStage: Equatable {
  /// Nothing is left to save.
  case none
  /// The handlers and releases of the step are awaited first.
  case due
  /// The save with this number runs.
  case runs(Int)
}

extension LedgerEntry.Outcome {
  fileprivate var isEndInTime: Bool {
    switch self {
    case .completed, .failed, .cancelled: true
    case .overran, .neverEnded, .cutShort, .usedAfterRelease: false
    }
  }
}
