extension Subscription {
  /// Waits until no handler runs.
  ///
  /// Inside a handler it does not wait for that handler itself, nor for one that waits for it along the chain of waits; it
  /// waits for 30 seconds at most, and not at all where two would wait for each other; then both are reported. Inside work it
  /// waits for no handler that waits for that work, and has the time that the work has.
  func drain() async {
    guard let context = HandlerContext.enclosing else { return await idle() }
    guard let mailbox = registration?.mailbox else { return await idle(inside: context) }
    if context.isChained(to: mailbox) { return }
    guard let token = WaitGraph.begin(in: context, awaiting: [.receiver(mailbox)]) else {
      return reportTimeout(inside: context)
    }
    await idle(inside: context)
    token.end()
  }

  private func idle() async {
    await withUnsafeContinuation { continuation in whenIdle { continuation.resume() } }
  }

  private func idle(inside context: HandlerContext) async {
    guard context.run != nil else { return await idle() }
    let deadlines = core.deadlines
    let outcome = OneShot()
    let timer = deadlines.set(deadlines.now() + HandlerRun.waitBudget) { outcome.settle(false) }
    whenIdle { outcome.settle(true) }
    let wasDrained = await outcome.value
    deadlines.clear(timer)
    if !wasDrained { reportTimeout(inside: context) }
  }

  private func reportTimeout(inside context: HandlerContext) {
    guard let run = context.run else { return }
    core.reportFailure(of: run.receiver.subscriber, DrainTimeout(subscriber: subscriber), with: nil, in: run.eventType)
  }
}
