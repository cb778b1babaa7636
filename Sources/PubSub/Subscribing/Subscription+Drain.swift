extension Subscription {
  /// Waits until no handler runs.
  ///
  /// Inside a handler it does not wait for that handler itself, nor for one that waits for it along the chain of waits; it
  /// waits for 30 seconds at most, and not at all where two would wait for each other; then both are reported.
  func drain() async {
    guard let run = HandlerRun.enclosing else { return await idle() }
    guard let mailbox = registration?.mailbox else { return await idle(within: HandlerRun.waitBudget, inside: run) }
    if run.isChained(to: mailbox) { return }
    guard let token = WaitGraph.begin(in: run, awaiting: mailbox) else { return reportTimeout(inside: run) }
    await idle(within: HandlerRun.waitBudget, inside: run)
    WaitGraph.end(token)
  }

  private func idle() async {
    await withUnsafeContinuation { continuation in whenIdle { continuation.resume() } }
  }

  private func idle(within budget: Duration, inside run: HandlerRun) async {
    let deadlines = core.deadlines
    let outcome = OneShot()
    let timer = deadlines.set(deadlines.now() + budget) { outcome.settle(false) }
    whenIdle { outcome.settle(true) }
    let wasDrained = await outcome.value
    deadlines.clear(timer)
    if !wasDrained { reportTimeout(inside: run) }
  }

  private func reportTimeout(inside run: HandlerRun) {
    core.reportFailure(of: run.receiver.subscriber, DrainTimeout(subscriber: subscriber), with: nil, in: run.eventType)
  }
}
