internal import PubSub

/// What a step closes, and how long that may take: phases, the handlers and bodies that still run in them, and the one budget for
/// the step's delegate calls, its handlers, the bodies of `run(while:)`, and what is to be released.
@MainActor final class TearDown {
  /// Told what overran its time.
  weak var application: Application?
  private let resources: ResourceManager
  private let runs: PhaseRuns
  private let configuration: Application.Configuration
  private let timing: ClockHandle
  private let tasks: TaskStarter
  private let deadlines: Deadlines
  /// Whether an overrun ends the process, as it does on a device; else it is only reported.
  var enforcesBudgets = false
  /// How far each phase is open.
  private var gate = PhaseGate()
  /// The posts of closing notifications whose asynchronous handlers still run.
  private var pendingPosts: [PendingPost] = []
  /// The budget that runs, from the first delegate call of a closing step to the end of the wait for it.
  private var budget: RunningBudget?
  /// The wait for what is left of the step; nil while there is none.
  private var wait: OneShot?

  init(
    of resources: ResourceManager, _ runs: PhaseRuns, configuration: Application.Configuration, timing: ClockHandle,
    tasks: TaskStarter, deadlines: Deadlines
  ) {
    (self.resources, self.runs, self.configuration) = (resources, runs, configuration)
    (self.timing, self.tasks, self.deadlines) = (timing, tasks, deadlines)
  }

  /// Whether a transition waits for what is left of its step.
  var isAwaited: Bool { wait != nil }

  /// When the time of the budget that runs is up; nil where none runs.
  var deadline: Duration? { budget?.deadline }

  /// The process vanishes: nothing is waited for any longer.
  func loseProcess() {
    for index in pendingPosts.indices {
      clearTimer(of: index)
      pendingPosts[index].post.abandon()
    }
    pendingPosts = []
    gate = PhaseGate()
    budget = nil
    runs.loseProcess()
    resources.loseProcess()
  }
}

// MARK: - The budget

extension TearDown {
  /// A budget begins to run with a delegate call, unless one runs already: one covers all scenes of a step.
  func beginBudget(of callback: ApplicationCallback) {
    guard budget == nil else { return }
    let length =
      callback == .willTerminate ? configuration.willTerminateBudget : configuration.didEnterBackgroundBudget
    budget = RunningBudget(of: callback, length, until: timing.instant(after: length))
    application?.tell(.budgetBegan(callback, length))
    // What is still waited for is part of it.
    for index in pendingPosts.indices { clearTimer(of: index) }
  }

  /// Waits until nothing of the closing step is left, at most until its budget has passed; reports the code that overran it.
  ///
  /// - Parameters:
  ///   - application: whose step it is.
  ///   - cause: what led to the step.
  /// - Returns: whether the process goes on; false if the system ends it for an overrun.
  func finish(of application: Application, cause: LifecycleCause) async -> Bool {
    guard let budget else { return true }
    if budget.culprits.isEmpty, !isOver { await waitUntilOver(or: budget.deadline, of: application) }
    if endBudget(of: application, cause: cause) { return true }
    guard !enforcesBudgets else { return false }
    releaseUnawaited()
    return true
  }

  /// - Returns: whether the budget was kept.
  private func endBudget(of application: Application, cause: LifecycleCause) -> Bool {
    guard let began = budget else { return true }
    if isAwaited || !began.culprits.isEmpty { nameLate() }
    wait = nil
    let culprits = budget?.culprits ?? []
    budget = nil
    for index in pendingPosts.indices { setTimer(of: index) }
    guard !culprits.isEmpty else { return true }
    for name in culprits { application.record(.report, "watchdog:\(name)", cause) }
    application.note(
      BudgetOverrun(callback: began.callback, budget: began.length, culprits: culprits),
      on: application.ownLedger.transitionPage)
    return false
  }

  private func waitUntilOver(or deadline: Duration, of application: Application) async {
    let wait = OneShot()
    self.wait = wait
    application.inbox.hurryTearDownIfReturning(of: application)
    resources.performNow()
    // Nearly always all has been torn down by now, so that no wait is needed.
    if !isOver {
      let timer = deadlines.set(deadline) { wait.settle(false) }
      _ = await wait.value
      deadlines.clear(timer)
    }
    // What ended late, before the end of the wait was noticed, has been noted; the others are named in `endBudget`.
    if isOver { self.wait = nil }
  }

  /// Whether there is nothing left that the step has to wait for; what was late once is not waited for again.
  private var isOver: Bool { pendingPosts.isEmpty && gate.lingering.isEmpty && resources.isTornDown }

  /// Ends the wait if nothing is left to wait for.
  func didProgress() {
    if let wait, isOver { wait.settle(true) }
  }

  /// Cancels what is waited for, as the application comes back.
  ///
  /// It is awaited all the same.
  func hurry() {
    for pending in pendingPosts { pending.post.cancel() }
    runs.hurry()
    resources.cancelTearDown()
  }

  /// Names the code that still runs when the time is up, unless a synchronous call has used up its time.
  private func nameLate() {
    let blames = isAwaited && budget?.wasUsedUpByObserver != true
    var late = budget?.culprits ?? []
    // A handler that is late for one of two scenes cannot have begun with the other: one report is enough.
    var blamed: Set<ObjectIdentifier> = []
    for pending in pendingPosts {
      late += pending.post.expire(blames: blames, besides: &blamed).map(\.description)
    }
    late += runs.nameLate(in: gate.lingering, blames: blames)
    let (begun, notBegun) = resources.nameLate(blames: blames)
    late += begun
    guard blames else { return }
    // If no code has begun, unknown code has kept the main actor busy.
    if late.isEmpty { late = notBegun.isEmpty ? [budget?.callback.rawValue].compactMap(\.self) : notBegun }
    budget?.culprits = late
  }

  /// What is late is no longer waited for, and keeps nothing from being released.
  private func releaseUnawaited() {
    for index in pendingPosts.indices { clearTimer(of: index) }
    pendingPosts = []
    for phase in PhaseGate.phases.reversed() {
      if gate[phase] == .handlers { endBodies(of: phase) }
      if gate[phase] == .bodies { gate[phase] = .closed }
    }
    updateResources()
  }

  /// Notes which call used up the time of the budget.
  ///
  /// Synchronous calls use up each other's time, and the one that uses up the last of it is to blame. Those that run side by side are
  /// late each for itself.
  ///
  /// - Parameter entry: a call that has ended, in its time as far as is known.
  /// - Returns: whether the deadline passed while it ran, so that the call is to blame.
  func blames(_ entry: LedgerEntry) -> Bool {
    guard let budget, entry.outcome.isEndInTime else { return false }
    let mayBlame = !budget.wasUsedUpByObserver && (isAwaited || budget.culprits.isEmpty)
    guard budget.isUsedUp(from: entry.began, to: entry.began + entry.duration), mayBlame else { return false }
    self.budget?.culprits.append(entry.kind == .delegate ? entry.step : entry.name)
    return true
  }

  /// Notes that an observer used up the time of the budget, if it did.
  ///
  /// - Returns: whether it is to blame.
  func blames(_ observer: Subscriber, from began: Duration, to end: Duration) -> Bool {
    guard let budget, budget.isUsedUp(from: began, to: end), budget.culprits.isEmpty else { return false }
    self.budget?.culprits.append(observer.description)
    self.budget?.wasUsedUpByObserver = true
    return true
  }
}

// MARK: - Phases

extension TearDown {
  /// Opens and closes what a callback opens and closes, now that its synchronous handlers have run.
  func movePhases(after callback: ApplicationCallback, isInForeground: Bool) {
    switch callback.row.phase {
    case .opens(let phase): open(phase)
    case .closes(let phase): close(phase)
    case .none: break
    }
    // At a cold launch without scenes no willEnterForeground is sent.
    if callback == .didFinishLaunching, isInForeground { open(.foreground) }
  }

  private func open(_ phase: LifecyclePhase) {
    guard gate[phase] != .open else { return }
    gate[phase] = .open
    updateResources()
    runs.phaseDidOpen(phase)
  }

  private func close(_ phase: LifecyclePhase) {
    guard gate[phase] == .open else { return }
    runs.phaseWillClose(phase)
    gate[phase] = .handlers
    updateResources()
    advanceGate()
  }

  /// Takes each phase that closes as far as the handlers and bodies allow that still run.
  ///
  /// Handlers and bodies of a narrower phase may use what belongs to a wider one, which waits for them.
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

  /// Ends the bodies of `run(while:)`: all handlers have run, or are no longer waited for.
  private func endBodies(of phase: LifecyclePhase) {
    gate[phase] = .bodies
    runs.phaseDidClose(phase)
    updateResources()
  }

  private func hasPendingHandlers(within phase: LifecyclePhase) -> Bool {
    pendingPosts.contains { $0.closes.map { phase.includes($0) } ?? false }
  }

  private func hasEndingBodies(within phase: LifecyclePhase) -> Bool {
    PhaseGate.phases.contains { phase.includes($0) && (runs.isEnding($0) || resources.isEndingBodies(of: $0)) }
  }

  /// The last body of a phase that was asked to end has ended.
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
    tasks.startOnMainActor { [weak self] in
      await post.finish()
      self?.didSettle(post)
    }
  }

  private func didSettle(_ post: ObservedPost) {
    guard let index = pendingPosts.firstIndex(where: { $0.post === post }) else { return }
    clearTimer(of: index)
    pendingPosts.remove(at: index)
    advanceGate()
    didProgress()
  }

  /// Where no budget runs, the time of a didEnterBackground is what handlers have.
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

  /// Handlers that no transition waits for are late: they are named, and what waits for them is torn down all the same.
  private func handlersAreLate(of post: ObservedPost) {
    guard let application, let index = pendingPosts.firstIndex(where: { $0.post === post }),
      pendingPosts[index].timer != nil
    else { return }
    let pending = pendingPosts.remove(at: index)
    var blamed: Set<ObjectIdentifier> = []
    let late = post.expire(blames: true, besides: &blamed).map(\.description)
    for name in late { application.record(.report, "watchdog:\(name)", pending.cause) }
    if !late.isEmpty {
      // A window whose scene is reclaimed resigns nothing: it has the time of a didEnterBackground, and its name.
      let callback = pending.closes == .active ? ApplicationCallback.willResignActive : .didEnterBackground
      application.note(
        BudgetOverrun(callback: callback, budget: configuration.didEnterBackgroundBudget, culprits: late),
        on: pending.page)
    }
    advanceGate()
    didProgress()
  }
}

extension LedgerEntry.Outcome {
  fileprivate var isEndInTime: Bool {
    switch self {
    case .completed, .failed, .cancelled: true
    case .overran, .neverEnded, .cutShort, .usedAfterRelease: false
    }
  }
}
