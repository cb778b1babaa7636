internal import Scheduling

extension EventBus {
  /// Posts an event, and waits for all of its handlers, including asynchronous ones.
  ///
  /// Priorities run one after another. Within a priority, synchronous handlers run in order, in the caller's task and
  /// on its actor. Asynchronous handlers get the event in order and run concurrently, each after the events that its
  /// mailbox already holds.
  ///
  /// The budget is one deadline for the whole post. At the deadline, the bus removes events that are still queued,
  /// cancels handlers that still run, and calls no further handlers. It reports all of these as
  /// ``DeliveryReport/Outcome/timedOut``, and this method returns; a synchronous handler that runs then cannot be
  /// interrupted, and delays the return. A handler that ignores its cancellation delays only its own mailbox. With a
  /// budget of zero or less no subscriber receives the event, but a sticky event is still kept as the latest one.
  ///
  /// If the calling task is cancelled, the handlers for which it waits are cancelled, including handlers that begin
  /// later. The call still waits for them, until the deadline at the latest.
  ///
  /// Inside a handler the default budget is 30 seconds. The call does not wait for a subscriber whose handler waits for
  /// the caller's own, directly or along a chain of waits: that subscriber receives the event later and is reported as
  /// ``DeliveryReport/Outcome/skipped``.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - subject: the object that the event is about; subscriptions to other objects do not receive the post.
  ///   - budget: the time limit for the whole post; nil for no limit or, inside a handler, for 30 seconds.
  ///   - clock: measures the budget and the durations; nil for the bus's own clock, which also advances while the
  ///     machine sleeps.
  /// - Returns: a delivery for each subscriber that the post reached. An error that a handler throws before the
  ///   deadline is in this report. Every error is also posted as ``EventBus/HandlerFailure``.
  @discardableResult
  public func postAndWait<E: BusEvent>(
    _ event: E, from subject: (any AnyObject & Sendable)? = nil, within budget: Duration? = nil,
    clock: (any Clock<Duration>)? = nil
  ) async -> DeliveryReport {
    await deliverAndWait(event, from: subject, within: budget, clock: clock)
  }

  /// Posts a main-actor event, and waits for all of its handlers, including asynchronous ones.
  ///
  /// It does what the method for a ``BusEvent`` does; synchronous handlers run on the main actor.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - subject: the object that the event is about; subscriptions to other objects do not receive the post.
  ///   - budget: the time limit for the whole post; nil for no limit or, inside a handler, for 30 seconds.
  ///   - clock: measures the budget and the durations; nil for the bus's own clock, which also advances while the
  ///     machine sleeps.
  /// - Returns: a delivery for each subscriber that the post reached, with an error that its handler threw before the
  ///   deadline.
  @MainActor @discardableResult
  public func postAndWait<E: MainActorEvent>(
    _ event: E, from subject: (any AnyObject & Sendable)? = nil, within budget: Duration? = nil,
    clock: (any Clock<Duration>)? = nil
  ) async -> DeliveryReport {
    await deliverAndWait(event, from: subject, within: budget, clock: clock)
  }

  private func deliverAndWait<E: Event>(
    _ event: E, from subject: (any AnyObject & Sendable)?, within budget: Duration?, clock: (any Clock<Duration>)?
  ) async -> DeliveryReport {
    let context = HandlerContext.enclosing
    let deadlines =
      clock.map { clock in
        // A simulated clock starts its task in its simulation.
        Deadlines(ClockHandle(clock), tasks: clock is any SimulatedClock ? TaskStarter(clock: clock) : tasks)
      } ?? core.deadlines
    let budget = budget ?? (context?.run == nil ? nil : HandlerRun.waitBudget)
    let collector = ReportObserver()
    let post = MeasuredPost(
      of: E.self, from: subject, on: self, by: context, now: deadlines.now, observer: collector,
      until: budget.map { deadlines.instant(after: $0) }, on: deadlines)
    if post.deliver(event) { await post.finish() }
    return collector.report(isRefused: post.isRefused)
  }
}

/// Collects the outcomes of a post for its report.
private final class ReportObserver: PostObserver {
  private var ended: [(position: Int, delivery: DeliveryReport.Delivery)] = []
  var wantsBeginnings: Bool { false }

  func handlersFollow(_ count: Int) {}

  func handlerBegins(_ subscriber: EventBus.Subscriber, at time: Duration, isSynchronous: Bool) -> BegunCall? { nil }

  func handlerReturned(_ site: Unmanaged<Site>, at position: Int, began: Duration, ended end: Duration) {
    ended.append(
      (position, .init(subscriber: site.takeUnretainedValue().subscriber, outcome: .delivered, duration: end - began)))
  }

  func deliveryEnded(_ delivery: ObservedDelivery) {
    let report = DeliveryReport.Delivery(
      subscriber: delivery.subscriber, outcome: delivery.outcome, duration: delivery.duration)
    ended.append((delivery.position, report))
  }

  /// Makes the report; its deliveries are in the order of delivery, whichever ended first.
  func report(isRefused: Bool) -> DeliveryReport {
    ended.sort { $0.position < $1.position }
    return DeliveryReport(deliveries: ended.map(\.delivery), isRefused: isRefused)
  }
}
