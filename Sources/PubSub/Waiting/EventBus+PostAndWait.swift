extension EventBus {
  /// Posts an event and waits for its handlers, the asynchronous ones included.
  ///
  /// Priorities run one after another. Within one, synchronous handlers run in order, on the caller's thread, and
  /// asynchronous ones are started in order and run side by side, each behind what its mailbox holds already.
  ///
  /// The budget is one deadline for the whole post. When it has passed, events that are still queued are removed, handlers that
  /// still run are cancelled, and handlers whose turn has not come are not called. All of them are reported as
  /// ``DeliveryReport/Outcome/timedOut``, and this method returns. A handler that ignores its cancellation delays its own
  /// mailbox and no other. A budget of zero or less has passed when the post begins: no subscriber receives the event. A
  /// synchronous handler cannot be interrupted: while it runs, the deadline waits.
  ///
  /// If the calling task is cancelled, so are the handlers for which it waits, also those that begin later. The call still
  /// waits for them, up to the deadline.
  ///
  /// Inside a handler the default budget is 30 seconds. The call does not wait for a subscriber whose handler waits for the
  /// caller's own, directly or along a chain of waits: that subscriber receives the event later and is reported as
  /// ``DeliveryReport/Outcome/skipped``.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - subject: what it happened to, for subscriptions to this object only.
  ///   - budget: how long it may take; nil for as long as the handlers take, inside a handler for 30 seconds.
  ///   - clock: measures the budget and the durations; nil for the bus's own, which counts on while the machine sleeps.
  /// - Returns: what became of the event at each subscriber. The errors of handlers are in this report, and are not posted.
  @discardableResult
  public func postAndWait<E: Event>(
    _ event: E, from subject: (any AnyObject & Sendable)? = nil, within budget: Duration? = nil,
    clock: (any Clock<Duration>)? = nil
  ) async -> DeliveryReport {
    await deliverAndWait(event, from: subject, within: budget, clock: clock)
  }

  /// Posts a main-actor event and waits for its handlers, the asynchronous ones included.
  ///
  /// Synchronous handlers run on the main actor. Order, deadline, cancellation and waits inside a handler are those of
  /// `postAndWait` for an `Event`.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - subject: what it happened to, for subscriptions to this object only.
  ///   - budget: how long it may take; nil for as long as the handlers take, inside a handler for 30 seconds.
  ///   - clock: measures the budget and the durations; nil for the bus's own, which counts on while the machine sleeps.
  /// - Returns: what became of the event at each subscriber. The errors of handlers are in this report, and are not posted.
  @MainActor @discardableResult
  public func postAndWait<E: MainActorEvent>(
    _ event: E, from subject: (any AnyObject & Sendable)? = nil, within budget: Duration? = nil,
    clock: (any Clock<Duration>)? = nil
  ) async -> DeliveryReport {
    await deliverAndWait(event, from: subject, within: budget, clock: clock)
  }

  private func deliverAndWait<E: BusEvent>(
    _ event: E, from subject: (any AnyObject & Sendable)?, within budget: Duration?, clock: (any Clock<Duration>)?
  ) async -> DeliveryReport {
    let recipients = core.recipients(of: event, from: subject)
    let context = HandlerContext.enclosing
    let deadlines = deadlines(on: clock)
    let budget = budget ?? (context?.run == nil ? nil : HandlerRun.waitBudget)
    let wait = WaitForPost(
      bus: self, post: AwaitedPost(poster: context, now: deadlines.now), deadlines: deadlines,
      // Clocks count nanoseconds in 64 bits; a century is short enough to be added to, and long enough.
      deadline: budget.map { deadlines.now() + min($0, .seconds(100 * 365 * 86_400)) })
    let outcomes = await wait.deliver(event, to: recipients)
    return DeliveryReport(deliveries: outcomes)
  }
}

/// The course of one post that is waited for.
private struct WaitForPost {
  private enum Entry {
    case ended(DeliveryReport.Outcome, Duration)
    case awaited(AwaitedDelivery)
  }

  let bus: EventBus
  let post: AwaitedPost
  let deadlines: Deadlines
  let deadline: Duration?

  func deliver<E: BusEvent>(_ event: E, to recipients: Recipients) async -> [DeliveryReport.Delivery] {
    let (store, recipients) = (recipients.store, recipients.list)
    let timer = recipients.contains { $0.registration?.mailbox != nil } ? setTimer() : nil
    let token = WaitGraph.begin(in: post.poster) { [post] in post.awaited }
    defer {
      token?.end()
      timer.map(deadlines.clear)
      post.finish()
    }
    var entries: [(Subscriber, Entry)] = []
    for (index, recipient) in recipients.enumerated() {
      if index > 0, recipients[index - 1].priority != recipient.priority {
        await post.wait()
      }
      if let entry = begin(event, at: recipient, in: store) { entries.append((recipient.subscriber, entry)) }
    }
    await post.wait()
    return entries.map(report)
  }

  private func setTimer() -> DeadlineHeap.ID? { deadline.map { deadlines.set($0) { [post] in post.expire() } } }

  /// Has a recipient begin; nil if it is not there any more.
  private func begin<E: BusEvent>(_ event: E, at recipient: Recipient, in store: HandlerStore) -> Entry? {
    let registration = recipient.registration
    if let registration, registration.isExpired {
      registration.cancel()
      return nil
    }
    let time = deadlines.now()
    if let deadline, deadline <= time { return .ended(.timedOut, .zero) }
    guard let mailbox = registration?.mailbox else {
      return call(recipient, in: store, with: event, at: time)
    }
    let waited = WaitGraph.extend(waitIn: post.poster, by: mailbox) { post.add(mailbox, at: time) }
    switch waited {
    case .none:
      mailbox.takePromised(event)
      return .ended(.skipped, .zero)
    case .some(.none): return .ended(.timedOut, .zero)
    case .some(.some(let delivery)):
      if !mailbox.take(event, for: delivery) { post.cancelled(delivery) }
      return .awaited(delivery)
    }
  }

  private func call<E: BusEvent>(
    _ recipient: Recipient, in store: HandlerStore, with event: E, at time: Duration
  ) -> Entry {
    var calls = SynchronousCalls(of: bus.core, in: store)
    guard calls.begin(recipient) else { return .ended(.cancelled, .zero) }
    defer { calls.end() }
    do {
      try recipient.deliverKept(event)
      return .ended(.delivered, deadlines.now() - time)
    } catch {
      return .ended(.threw(error), deadlines.now() - time)
    }
  }

  private func report(_ subscriber: Subscriber, _ entry: Entry) -> DeliveryReport.Delivery {
    let (outcome, duration) =
      switch entry {
      case .ended(let outcome, let duration): (outcome, duration)
      case .awaited(let delivery): post.outcome(delivery)
      }
    return DeliveryReport.Delivery(subscriber: subscriber, outcome: outcome, duration: duration)
  }
}
