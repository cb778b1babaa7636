internal import PubSub

// One budget for a closing step: its delegate calls, its handlers, the bodies of `run(while:)`, and what is to be released.

extension Application {
  /// A budget begins to run with a delegate call, unless one runs already: one covers all scenes of a step.
  func beginBudget(of callback: ApplicationCallback) {
    guard budget == nil else { return }
    let length =
      callback == .willTerminate ? configuration.willTerminateBudget : configuration.didEnterBackgroundBudget
    budget = RunningBudget(of: callback, length, until: timing.instant(after: length))
    tell(.budgetBegan(callback, length))
    // What is still waited for is part of it.
    for index in pendingPosts.indices { clearTimer(of: index) }
  }

  /// Waits until nothing of the closing step is left, at most until its budget has passed.
  ///
  /// - Returns: whether the process goes on; false if the system has purged it for an overrun.
  func awaitTearDown(cause: LifecycleCause) async -> Bool {
    guard let budget else { return true }
    if budget.culprits.isEmpty, !isTornDown { await waitForTearDown(until: budget.deadline) }
    return endBudget(cause: cause)
  }

  /// Ends the budget of the step, and reports the code that overran it.
  ///
  /// - Returns: whether the process goes on.
  private func endBudget(cause: LifecycleCause) -> Bool {
    guard var budget else { return true }
    if tearDown != nil || !budget.culprits.isEmpty { abandonTearDown() }
    tearDown = nil
    budget.culprits = self.budget?.culprits ?? []
    self.budget = nil
    for index in pendingPosts.indices { setTimer(of: index) }
    guard !budget.culprits.isEmpty else { return true }
    for name in budget.culprits { record(.report, "watchdog:\(name)", cause) }
    note(
      BudgetOverrun(callback: budget.callback, budget: budget.length, culprits: budget.culprits),
      on: ledgerKeeper.transition)
    if enforcesBudgets {
      purge(cause: cause)
      return false
    }
    releaseUnawaited()
    return true
  }

  private func waitForTearDown(until deadline: Duration) async {
    let wait = OneShot()
    tearDown = wait
    hurryTearDownIfReturning()
    manager.performNow()
    // Nearly always all has been torn down by now, so that no wait is needed.
    if !isTornDown {
      let timer = deadlines.set(deadline) { wait.settle(false) }
      _ = await wait.value
      deadlines.clear(timer)
    }
    // What ended late, before the end of the wait was noticed, has been noted; the others are named in `endBudget`.
    if isTornDown { tearDown = nil }
  }

  /// Whether there is nothing left that the step has to wait for; what was late once is not waited for again.
  private var isTornDown: Bool { pendingPosts.isEmpty && gate.lingering.isEmpty && manager.isTornDown }

  /// Ends the wait if nothing is left of the tear-down.
  func tearDownDidProgress() {
    if let tearDown, isTornDown { tearDown.settle(true) }
  }

  /// Cancels the tear-down, as the application comes back.
  ///
  /// It is awaited all the same.
  func hurryTearDown() {
    for pending in pendingPosts { pending.post.cancel() }
    runs.hurry()
    manager.cancelTearDown()
  }

  /// Names the code that still runs when the time is up, unless a synchronous call has used up its time.
  private func abandonTearDown() {
    let blames = tearDown != nil && budget?.wasUsedUpByObserver != true
    var late = budget?.culprits ?? []
    // A handler that is late for one of two scenes cannot have begun with the other: one report is enough.
    var blamed: Set<ObjectIdentifier> = []
    for pending in pendingPosts {
      late += pending.post.expire(blames: blames, besides: &blamed).map(\.description)
    }
    late += runs.nameLate(in: gate.lingering, blames: blames)
    let (begun, notBegun) = manager.nameLate(blames: blames)
    late += begun
    guard blames else { return }
    // If no code has begun, unknown code has kept the main actor busy.
    if late.isEmpty { late = notBegun.isEmpty ? [budget?.callback.rawValue].compactMap(\.self) : notBegun }
    budget?.culprits = late
  }

  /// What is late keeps nothing from being released.
  private func releaseUnawaited() {
    for index in pendingPosts.indices { clearTimer(of: index) }
    pendingPosts = []
    for phase in PhaseGate.phases.reversed() {
      if gate[phase] == .handlers { endBodies(of: phase) }
      if gate[phase] == .bodies { gate[phase] = .closed }
    }
    updateResources()
  }

  /// The system ends a process that has misbehaved; the rest of the transition does not happen.
  private func purge(cause: LifecycleCause) {
    // The machine stands at the transition's end already, which may be the end of the process.
    _ = machine.handle(.purge)
    loseProcess()
    if present.state != .notRunning { commit(.notRunning, cause: cause) }
    setDeactivationReasons(machine.deactivationReasons)
  }

  /// The process vanishes: what it held is gone, and nothing is released.
  func loseProcess() {
    abandonQuestion()
    for index in pendingPosts.indices {
      clearTimer(of: index)
      pendingPosts[index].post.abandon()
    }
    pendingPosts = []
    gate = PhaseGate()
    budget = nil
    runs.loseProcess()
    manager.loseProcess()
    loseScenes()
  }
}

// MARK: - Handlers that run on

extension Application {
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
    tearDownDidProgress()
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
    guard let index = pendingPosts.firstIndex(where: { $0.post === post }), pendingPosts[index].timer != nil else {
      return
    }
    let pending = pendingPosts.remove(at: index)
    var blamed: Set<ObjectIdentifier> = []
    let late = post.expire(blames: true, besides: &blamed).map(\.description)
    for name in late { record(.report, "watchdog:\(name)", pending.cause) }
    if !late.isEmpty {
      // A window whose scene is reclaimed resigns nothing: it has the time of a didEnterBackground, and its name.
      let callback = pending.closes == .active ? ApplicationCallback.willResignActive : .didEnterBackground
      note(
        BudgetOverrun(callback: callback, budget: configuration.didEnterBackgroundBudget, culprits: late),
        on: pending.page)
    }
    advanceGate()
    tearDownDidProgress()
  }
}
