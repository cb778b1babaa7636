extension EventBus {
  /// Posts an event, and waits for all of its handlers, including asynchronous ones.
  ///
  /// Priorities run one after another. Within a priority, synchronous handlers run in order, in the caller's task and
  /// on its actor. Asynchronous handlers get the event in order and run concurrently, each after the events that its
  /// mailbox already holds.
  ///
  /// The budget is one deadline for the whole post. At the deadline, the bus removes events that are still queued,
  /// cancels handlers that still run, and calls no further handlers. It reports all of these as
  /// ``DeliveryReport/Outcome/timedOut``, and this method returns. A handler that ignores its cancellation delays only
  /// its own mailbox. A budget of zero or less has passed when the post begins: no subscriber receives the event. A
  /// sticky event is still kept as the latest one. A synchronous handler cannot be interrupted: if it runs at the
  /// deadline, this method returns after it.
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
  ///   deadline is in this report. It is also posted as ``HandlerFailure``, as is a later error and that of a skipped
  ///   handler.
  @discardableResult
  public func postAndWait<E: Event>(
    _ event: E, from subject: (any AnyObject & Sendable)? = nil, within budget: Duration? = nil,
    clock: (any Clock<Duration>)? = nil
  ) async -> DeliveryReport {
    await deliverAndWait(event, from: subject, within: budget, clock: clock)
  }

  /// Posts a main-actor event, and waits for all of its handlers, including asynchronous ones.
  ///
  /// Priorities run one after another. Within a priority, synchronous handlers run in order, on the main actor.
  /// Asynchronous handlers get the event in order and run concurrently, each after the events that its mailbox already
  /// holds.
  ///
  /// The budget is one deadline for the whole post. At the deadline, the bus removes events that are still queued,
  /// cancels handlers that still run, and calls no further handlers. It reports all of these as
  /// ``DeliveryReport/Outcome/timedOut``, and this method returns. A budget of zero or less has passed when the post
  /// begins. A synchronous handler cannot be interrupted: if it runs at the deadline, this method returns after it.
  ///
  /// If the calling task is cancelled, the handlers are cancelled, and the call still waits for them, until the
  /// deadline at the latest.
  ///
  /// Inside a handler the default budget is 30 seconds. A subscriber whose handler waits for the caller's own is
  /// reported as ``DeliveryReport/Outcome/skipped``, and receives the event later.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - subject: the object that the event is about; subscriptions to other objects do not receive the post.
  ///   - budget: the time limit for the whole post; nil for no limit or, inside a handler, for 30 seconds.
  ///   - clock: measures the budget and the durations; nil for the bus's own clock, which also advances while the
  ///     machine sleeps.
  /// - Returns: a delivery for each subscriber that the post reached. An error that a handler throws before the
  ///   deadline is in this report. It is also posted as ``HandlerFailure``, as is a later error and that of a skipped
  ///   handler.
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
    let context = HandlerContext.enclosing
    let deadlines = deadlines(on: clock)
    let budget = budget ?? (context?.run == nil ? nil : HandlerRun.waitBudget)
    let wait = WaitForPost(
      core: core, post: AwaitedPost(poster: context, now: deadlines.now), deadlines: deadlines,
      // Clocks count nanoseconds in 64 bits, so a budget of more than a century could overflow in the addition.
      deadline: budget.map { deadlines.now() + min($0, .seconds(100 * 365 * 86_400)) })
    return DeliveryReport(deliveries: await wait.deliver(event, WaitingWalk(event, of: core, from: subject)))
  }
}

/// One `postAndWait` under way.
private final class WaitForPost {
  private enum Ending {
    case ended(DeliveryReport.Outcome, Duration)
    case awaited(AwaitedDelivery)
  }

  private struct Entry {
    let id: UInt64
    let subscriber: Subscriber
    let ending: Ending
  }

  private let core: BusCore
  private let post: AwaitedPost
  private let deadlines: Deadlines
  private let deadline: Duration?
  private var timer: Deadlines.ID?
  private var entries: [Entry] = []

  init(core: BusCore, post: AwaitedPost, deadlines: Deadlines, deadline: Duration?) {
    (self.core, self.post, self.deadlines, self.deadline) = (core, post, deadlines, deadline)
  }

  func deliver<E: BusEvent>(_ event: E, _ start: WaitingWalk) async -> [DeliveryReport.Delivery] {
    var walk = start
    let token = WaitGraph.begin(in: post.poster) { [post] in post.awaited }
    defer {
      token?.end()
      timer.map(deadlines.clear)
      post.finish()
    }
    while !walk.isOver {
      withUnsafePointer(to: event) { goOn(&walk, with: $0, of: E.self) }
      await post.wait()
    }
    return entries.map(report)
  }

  private func goOn<E: BusEvent>(_ walk: inout WaitingWalk, with event: UnsafePointer<E>, of type: E.Type) {
    // The walk visits the receivers of each priority first; sort the entries, because the report is in order of
    // subscription.
    var first = entries.count
    func sort() {
      entries[first...].sort { ($0.id < $1.id) != E.traits.contains(.reversed) }
      first = entries.count
    }
    walk.goOn(
      with: event,
      hand: { hand(event, to: $0, $1, of: $2) },
      call: { call($0, with: event) },
      mustPause: {
        sort()
        return !post.awaited.isEmpty
      })
    sort()
  }

  private func add(_ entry: HandlerBuffer.Entry, _ ending: Ending) {
    entries.append(Entry(id: entry.id, subscriber: entry.subscriber, ending: ending))
  }

  /// Returns the time; if the deadline has passed, reports the entry as timed out and returns nil.
  private func time(for entry: HandlerBuffer.Entry) -> Duration? {
    let time = deadlines.now()
    guard let deadline, deadline <= time else { return time }
    add(entry, .ended(.timedOut, .zero))
    return nil
  }

  /// Ends the subscription if its owner or subject has been released; returns whether it has.
  private func isGone(_ entry: HandlerBuffer.Entry) -> Bool {
    guard let registration = entry.registration, registration.isExpired else { return false }
    registration.cancel()
    return true
  }

  private func hand(
    _ event: UnsafeRawPointer, to receiver: Receiver, _ entry: HandlerBuffer.Entry, of store: HandlerStore
  ) -> Bool {
    if isGone(entry) { return false }
    guard let time = time(for: entry) else { return true }
    guard let mailbox = receiver.mailbox else {
      // A sequence that holds the event has received it; as a promised event, no bound drops it.
      let isHeld = receiver.take(event, of: store, .promised)
      add(entry, .ended(isHeld ? .delivered : .cancelled, .zero))
      return true
    }
    if timer == nil, let deadline { timer = deadlines.set(deadline) { [post] in post.expire() } }
    let waited = WaitGraph.extend(waitIn: post.poster, by: mailbox) { post.add(mailbox, at: time) }
    switch waited {
    case .none:
      _ = mailbox.take(event, of: store, .promised)
      add(entry, .ended(.skipped, .zero))
    case .some(.none): add(entry, .ended(.timedOut, .zero))
    case .some(.some(let delivery)):
      add(entry, .awaited(delivery))
      if !mailbox.take(event, of: store, .awaited(delivery)) { post.cancelled(delivery) }
    }
    return true
  }

  private func call<E: BusEvent>(_ span: DeliveryOrder.Span, with event: UnsafePointer<E>) -> Bool {
    var isReceived = false
    for place in span.places where span.isSynchronous(at: place) {
      if call(span, place, with: event) { isReceived = true }
    }
    return isReceived
  }

  private func call<E: BusEvent>(_ span: DeliveryOrder.Span, _ place: Int, with event: UnsafePointer<E>) -> Bool {
    let entry = span.buffer.entries[place]
    // A call finds out by itself that the owner is gone, but past the deadline there is no call.
    if let deadline, deadline <= deadlines.now(), isGone(entry) { return false }
    guard let time = time(for: entry) else { return true }
    switch span.call(place, with: event) {
    case .ownerIsGone: return false
    case .returned: add(entry, .ended(.delivered, deadlines.now() - time))
    case .threw(let error):
      add(entry, .ended(.threw(error), deadlines.now() - time))
      guard error.isFailure else { break }
      core.reportFailure(of: entry.subscriber, error, with: event.pointee, in: E.self, hasRecipient: true)
    }
    return true
  }

  private func report(_ entry: Entry) -> DeliveryReport.Delivery {
    let (outcome, duration) =
      switch entry.ending {
      case .ended(let outcome, let duration): (outcome, duration)
      case .awaited(let delivery): post.outcome(delivery)
      }
    return DeliveryReport.Delivery(subscriber: entry.subscriber, outcome: outcome, duration: duration)
  }
}
