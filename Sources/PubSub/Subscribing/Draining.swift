internal import Scheduling

extension Registration {
  /// Waits until no handler of the cancelled subscription runs.
  ///
  /// If the handler itself waits for the caller, through `postAndWait` or an ``AwaitedWork``, also for a later event of the
  /// caller's handler, this returns at once. Any other wait inside a handler lasts 30 seconds at most, and one that would close a circle with the wait of another drain does not begin; in
  /// both cases a time-out of the handler that waits is reported.
  func drain() async {
    // A synchronous handler has no mailbox, and is not in the graph: only the 30 seconds bound that wait.
    guard let context = HandlerContext.enclosing, let mailbox else { return await core.untilIdle(subscriber, whenIdle) }
    switch WaitGraph.beginDrain(of: mailbox, in: context) {
    case .isAwaited: break
    case .closesCircle: core.reportTimeout(of: context.run, waitingFor: subscriber)
    case .begun(let token):
      await core.untilIdle(subscriber, whenIdle)
      token.end()
    }
  }
}

extension BusCore {
  /// Waits until the handler of a cancelled subscription does not run; inside a handler, for 30 seconds at most.
  func untilIdle(
    _ subscriber: EventBus.Subscriber, _ whenIdle: (@escaping @Sendable () -> Void) -> Void
  ) async {
    let (deadlines, outcome, run) = (deadlines, OneShot<Bool>(), HandlerContext.enclosing?.run)
    let timer = run.map { _ in
      deadlines.set(deadlines.instant(after: HandlerRun.waitBudget)) { outcome.settle(false) }
    }
    whenIdle { outcome.settle(true) }
    let wasDrained = await outcome.value
    if let timer { deadlines.clear(timer) }
    if !wasDrained { reportTimeout(of: run, waitingFor: subscriber) }
  }

  fileprivate func reportTimeout(of waiter: HandlerRun?, waitingFor subscriber: EventBus.Subscriber) {
    guard let waiter else { return }
    reportFailure(
      DrainTimeout(subscriber: subscriber), of: waiter.mailbox.subscriber, with: nil, in: waiter.eventType)
  }
}
