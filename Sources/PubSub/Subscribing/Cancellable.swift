internal import Scheduling

/// A subscription that can be cancelled and drained: a `Subscription`, or a `Registration`.
protocol Cancellable: AnyObject, Sendable {
  var subscriber: EventBus.Subscriber { get }
  /// The core of the bus.
  var core: BusCore { get }
  /// The mailbox of an asynchronous handler; nil for a synchronous one.
  var mailbox: AnyMailbox? { get }

  func cancel()

  /// Calls the action when no handler of the cancelled subscription runs; immediately if none runs now.
  func whenIdle(_ action: @escaping @Sendable () -> Void)
}

extension Registration: Cancellable {}

extension Cancellable {
  /// Waits until no handler of the cancelled subscription runs.
  ///
  /// If the handler itself waits for the caller, through `postAndWait` or an ``AwaitedWork``, this returns at once. Any other
  /// wait inside a handler lasts 30 seconds at most, and one that would close a circle with the wait of another drain does not begin; in
  /// both cases a time-out of the handler that waits is reported.
  func drain() async {
    guard let context = HandlerContext.enclosing, let mailbox else { return await idle() }
    if context.isChained(to: mailbox) { return }
    // A chain of posts ends the drain in silence. A circle with other drains, which only the graph sees, is reported.
    guard let token = WaitGraph.beginUnlessCircular(in: context, awaiting: [.mailbox(mailbox)]) else {
      return reportTimeout(ofWaiter: context.run)
    }
    await idle()
    token.end()
  }

  private func idle() async {
    let (deadlines, outcome, run) = (core.deadlines, OneShot<Bool>(), HandlerContext.enclosing?.run)
    let timer = run.map { _ in deadlines.set(deadlines.instant(after: HandlerRun.waitBudget)) { outcome.settle(false) }
    }
    whenIdle { outcome.settle(true) }
    let wasDrained = await outcome.value
    if let timer { deadlines.clear(timer) }
    if !wasDrained { reportTimeout(ofWaiter: run) }
  }

  private func reportTimeout(ofWaiter run: HandlerRun?) {
    guard let run else { return }
    core.reportFailure(DrainTimeout(subscriber: subscriber), of: run.mailbox.subscriber, with: nil, in: run.eventType)
  }
}
