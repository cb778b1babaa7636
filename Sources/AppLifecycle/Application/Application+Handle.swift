internal import PubSub

// All inputs wait in one queue. One task runs them, one transition after another. If the queue is empty and no task works on
// it, the task that sends an input runs it itself, which saves two changes of tasks.

extension Application {
  /// Runs the transition of an input, and returns when it has finished, tear-down included, or when its budget has passed.
  ///
  /// Inputs run in order of arrival, after the current transition. Cancelling the calling task does not shorten the
  /// wait.
  ///
  /// Inside code for which a transition waits, waiting for the next transition would be a deadlock. There the method
  /// queues the input and returns at once:
  ///
  /// - in an asynchronous handler of a closing notification
  /// - in the acquire or release of a managed resource
  /// - in a body of ``run(while:label:fileID:line:_:)``
  /// - in the operation of a ``performBackgroundTask(named:_:)``
  /// - in an asynchronous handler of a bus for which such code waits with `postAndWait` or `cancelAndDrain`, directly
  ///   or along a chain of waits
  ///
  /// In the handler of an event of a plain `post`, for which no code waits, the method does wait. So it does in a task
  /// that such code has started, once that code has returned.
  ///
  /// For a ``SystemInput/terminate`` the method returns when the application has ended or the delegate has refused.
  /// Other inputs run until the delegate has answered. Inside `applicationShouldTerminate` itself the input is queued.
  ///
  /// - Parameters:
  ///   - input: the action of the system.
  ///   - cause: the cause that records and notifications show; the input itself if nil.
  /// - Returns: the outcome of the input.
  @discardableResult
  public func handle(_ input: SystemInput, cause: LifecycleCause? = nil) async -> TransitionReport {
    let cause = cause ?? LifecycleCause(input)
    let context = HandlerContext.enclosing
    let wait = context?.beginWait(for: input == .terminate ? [scope, questions.scope] : [scope])
    let isCircular = context != nil && wait == nil
    if isCircular || input == .terminate && questions.isInsideOwnQuestion {
      wait?.end()
      enqueue(.input(PendingInput(input: input, cause: cause)))
      return TransitionReport(outcome: .queued, cause: cause, from: present.state, to: present.state)
    }
    // What may have to wait for an answer goes through the queue.
    if input != .terminate, canTakeTurn, inbox.withLock({ $0.beginOwnTurn() }) {
      let report = await run(PendingInput(input: input, cause: cause))
      if inbox.withLock({ $0.endOwnTurn() }) { startWorkingOff() }
      return report
    }
    return await withUnsafeContinuation { waiter in
      enqueue(.input(PendingInput(input: input, cause: cause, waiter: waiter, wait: wait)))
    }
  }

  /// Queues an input and returns at once; any thread may call it.
  ///
  /// - Parameters:
  ///   - input: the action of the system.
  ///   - cause: the cause that records and notifications show; the input itself if nil.
  public nonisolated func send(_ input: SystemInput, cause: LifecycleCause? = nil) {
    enqueue(.input(PendingInput(input: input, cause: cause ?? LifecycleCause(input))))
  }

  /// Whether transitions may run in the present task: it belongs to no handler, old or new, and need not be seen by a
  /// simulation.
  private var canTakeTurn: Bool {
    HandlerContext.bound == nil && tasks.executor == nil && !observers.isCalling
  }

  nonisolated func enqueue(_ element: InputQueue.Element) {
    let mustStart = inbox.withLock { $0.add(element) }
    if mustStart {
      startWorkingOff()
    } else if case .input(let pending) = element, pending.input.mayBringToForeground {
      // It may have to hurry the tear-down that is being awaited.
      tasks.startOnMainActor { self.hurryTearDownIfReturning() }
    }
  }

  /// The transitions belong to no sender, though one has sent the first input.
  private nonisolated func startWorkingOff() {
    tasks.startDetachedOnMainActor(priority: priority) { await self.workOff() }
  }

  private func workOff() async {
    while let next = inbox.withLock({ $0.next() }) {
      switch next {
      case .input(let pending):
        guard let report = await take(pending) else { continue }
        pending.answer(report)
        for input in pending.question?.inputs ?? [] { input.answer(report) }
      case .backgroundClock: await passBackgroundTime()
      }
    }
  }

  /// Takes an input in its turn.
  ///
  /// - Returns: what became of it; nil if it was put aside until the delegate has answered, and the question answers its sender.
  private func take(_ pending: PendingInput) async -> TransitionReport? {
    if let answered = pending.question {
      return questions.beginEnd(after: answered, of: self) ? await run(pending) : nil
    }
    guard pending.input == .terminate, present.state.runsCode else { return await run(pending) }
    return await questions.take(pending, of: self)
  }

  /// Cancels the tear-down if a waiting input brings the application back.
  ///
  /// It is awaited all the same.
  func hurryTearDownIfReturning() {
    // Inputs that arrive after the process ended start a new one.
    guard tearDown.isAwaited, machine.state.isInMemory else { return }
    // Where one of several scenes has left, the application has not, and cannot come back.
    guard !present.state.isForeground else { return }
    var future = machine
    for input in inbox.withLock({ $0.inputs }) {
      _ = future.handle(input)
      if !future.state.isInMemory { return }
      if future.state.isForeground { return tearDown.hurry() }
    }
  }
}

extension SystemInput {
  /// Whether the input can bring an application into the foreground at all.
  fileprivate var mayBringToForeground: Bool {
    switch self {
    case .launch, .open, .openScene, .unlock: true
    default: false
    }
  }
}
