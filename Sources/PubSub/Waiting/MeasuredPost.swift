internal import Scheduling

/// A post that measures its handlers and waits for the asynchronous ones: that of `postAndWait`, or of a notification
/// of the life cycle.
///
/// It goes through the handlers priority by priority, with a pause whenever it must wait. During a pause it protects no
/// memory. Afterwards it continues with the handlers of later priorities that subscribed before the post began. Only the
/// poster uses it, on one actor: ``deliver(_:)``, which does not suspend, and then ``finish()``.
///
/// `postAndWait` awaits and pauses, reports errors in its report, and may have a deadline. A notification keeps a ledger, has no
/// deadline, and awaits or pauses as its phase wants it.
package final class MeasuredPost: @unchecked Sendable {
  /// The event, once the post waits; a copy in a box would be a hundredth of the time of a post to 100 handlers that does not.
  private var event: (any EventBus.Event)?
  private let subject: EventBus.Subject?
  /// An object to which the subject belongs; subscriptions to it receive the post, too.
  private let wider: EventBus.Subject?
  private let bus: EventBus
  private let store: HandlerStore
  private let observer: any PostObserver
  private let now: @Sendable () -> Duration
  /// The code that waits; nil if the post is made outside handlers and work.
  private let poster: HandlerContext?
  /// Whether the post waits for asynchronous handlers; if not, their mailboxes get the event as from any post.
  private let awaits: Bool
  /// Whether the handlers of a priority wait for the asynchronous handlers of earlier priorities.
  private let pauses: Bool
  /// Whether the observer keeps the errors in a ledger; if not, they are in the report of `postAndWait`.
  private let errorsAreInLedger: Bool
  /// The deadline, after which no handler receives the event; nil for a notification of the life cycle, whose owner calls
  /// ``expire(blames:blamesQueued:besides:)``: after that handlers still receive it.
  private let deadline: Duration?
  private let deadlines: Deadlines?
  private var timer: Deadlines.ID?
  /// The identifier of the first subscription that does not see the post.
  private var firstUnseen: UInt64?
  /// The last delivered priority, and the number of handlers up to it.
  private var (lastPriority, position): (Int?, Int) = (nil, 0)
  private var isReceived = false
  private var hasReachedAll = false
  /// Whether the post, or the rest of it, was refused, because it was nested too deep.
  private(set) var isRefused = false
  /// The wait; nil until the post reaches the first handler for which it waits.
  private var wait: PostWait?
  private var token: WaitToken?
  private var isAbandoned = false
  /// The number of the change of a sticky type's latest event (``PostUnderWay/change``).
  private var change = 0

  init<E: EventBus.Event>(
    of type: E.Type, from subject: EventBus.Subject?, within wider: EventBus.Subject? = nil, on bus: EventBus,
    by poster: HandlerContext?, now: @escaping @Sendable () -> Duration, observer: any PostObserver,
    awaits: Bool = true, pauses: Bool = true, errorsAreInLedger: Bool = false, until deadline: Duration? = nil,
    on deadlines: Deadlines? = nil
  ) {
    store = bus.core.store(of: type).takeUnretainedValue()
    (self.subject, self.wider, self.bus) = (subject, wider, bus)
    (self.poster, self.now) = (poster, now)
    (self.observer, self.errorsAreInLedger) = (observer, errorsAreInLedger)
    (self.awaits, self.pauses, self.deadline, self.deadlines) = (awaits, pauses, deadline, deadlines)
  }

  private func refuse() { (hasReachedAll, isRefused) = (true, true) }

  /// Calls the synchronous handlers, up to the next priority for which the post must wait; returns whether the caller
  /// must call ``finish()``.
  @discardableResult
  func deliver<E: EventBus.Event>(_ event: E) -> Bool {
    guard store.canPost() else {
      refuse()
      return false
    }
    withUnsafePointer(to: event) { event in
      store.callTracers(with: event, from: subject)
      store.keepLatest(event, from: subject) { (firstUnseen, change) = (store.core.nextID, $0) }
    }
    goOn(with: event)
    if wait != nil { self.event = event }
    return wait != nil
  }

  /// Waits for the handlers, delivers to later priorities, and reports each outcome to the observer.
  ///
  /// If the waiting task is cancelled, the handlers are cancelled.
  package func finish() async {
    await wait?.untilAllEnded()
    while !hasReachedAll, !isAbandoned, let event {
      goOn(with: event)
      await wait?.untilAllEnded()
    }
    if let timer { deadlines?.clear(timer) }
    token?.end()
    noteEnds()
  }
}

// MARK: - Delivery

extension MeasuredPost {
  private func goOn<E: EventBus.Event>(with event: E) {
    // Check again: an executor that runs jobs immediately may continue this post inside other posts.
    guard store.canPost() else { return refuse() }
    // Read the properties once; otherwise each handler would cost these loads and two pairs of retain and release.
    let (observer, now, wantsBeginnings, hasDeadline) = (observer, now, observer.wantsBeginnings, deadline != nil)
    // Work that leaves a simulation is reported with the name of the handler that started it (`TaskStarter.naming`).
    let namesHandlers = bus.tasks.executor != nil
    withUnsafePointer(to: event) { address in
      // The clock is read once for each handler: the end of one handler is the beginning of the next.
      var time = now()
      // Not the property, which would cost each handler a check of exclusive access.
      var isReceived = isReceived

      /// Calls a synchronous handler; returns whether it takes part in the post, as one that has timed out does.
      func call(_ place: HandlerPlace) -> Bool {
        var begun: BegunCall?
        // `place.call` finds out, too, whether the owner and the subscription are there. These posts must know before: the
        // observer is called first, and a time-out must not name a subscription that has ended.
        if wantsBeginnings || (hasDeadline && isLate(at: time)) {
          if place.endsIfExpired() { return false }
          if hasTimedOut(place, at: time) { return true }
          begun = begins(place, &time, isSynchronous: true)
          // The observer may have cancelled the subscription.
          guard place.isLiving else {
            noteDropped(place, begun, at: time)
            return false
          }
        }
        let began = time
        let outcome =
          namesHandlers || begun?.wrapper != nil
          ? callNamed(place, with: address, begun?.wrapper) : place.call(with: address)
        time = now()
        switch outcome {
        case .returned:
          if begun == nil {
            observer.handlerReturned(place.entry.site, at: place.position, began: began, ended: time)
          } else {
            ended(place, .delivered, from: began, to: time, begun)
          }
        case .threw(let error):
          bus.core.report(
            error, of: place.entry.subscriber, with: event, hasRecipient: !errorsAreInLedger,
            isInLedger: errorsAreInLedger)
          ended(place, .threw(error), from: began, to: time, begun)
          time = now()
        case .notCalled:
          noteDropped(place, begun, at: began)
          return false
        }
        return true
      }

      let post = PostUnderWay(on: store, from: subject, within: wider, before: firstUnseen, change: change)
      var walk = DeliveryWalk(post, from: position)
      if let lastPriority { walk.skip(through: lastPriority) }
      observer.handlersFollow(walk.remaining)
      while let priority = walk.priority {
        if pauses, wait?.isOpen ?? false { break }
        lastPriority = priority
        // First, so that the receivers of this priority get the event before what its synchronous handlers post.
        if store.hasReceivers {
          // Before the copy is made, or both walks would move on from the same handler. Both count all handlers, so positions agree.
          walk.moveOn()
          var receivers = walk
          while receivers.priority == priority, let place = receivers.next() {
            guard let receiver = place.receiver else { continue }
            if hand(address, to: receiver, at: place, time) { isReceived = true }
            time = now()
          }
          receivers.moveOn()
        }
        while walk.priority == priority, let place = walk.next() {
          if !place.entry.isAsynchronous, place.isLiving, call(place) { isReceived = true }
        }
      }
      (position, self.isReceived, hasReachedAll) = (walk.position, isReceived, walk.priority == nil)
      post.end()
      if hasReachedAll, !isReceived { store.core.reportUndelivered(address, of: store) }
    }
  }

  /// Calls a handler that a simulation names, or around which the observer runs code of its own.
  @inline(never)
  private func callNamed(
    _ place: HandlerPlace, with event: UnsafeRawPointer, _ wrapper: (any HandlerWrapper)?
  ) -> CallOutcome {
    bus.tasks.naming(place.entry.subscriber) {
      guard let wrapper else { return place.call(with: event) }
      do {
        let isCalled = try wrapper.callHandler {
          switch place.call(with: event) {
          case .returned: true
          case .threw(let error): throw error
          case .notCalled: false
          }
        }
        return isCalled ? .returned : .notCalled
      } catch {
        return .threw(error)
      }
    }
  }

  /// Gives the event to a mailbox or a sequence; returns whether the receiver takes part in the post.
  private func hand(
    _ event: UnsafeRawPointer, to receiver: Receiver, at place: HandlerPlace, _ start: Duration
  ) -> Bool {
    if place.endsIfExpired() { return false }
    if hasTimedOut(place, at: start) { return true }
    var time = start
    guard let mailbox = receiver.mailbox else {
      // A sequence that holds the event has received it; if handlers are awaited, no bound drops the event.
      let begun = begins(place, &time, isSynchronous: true)
      guard receiver.take(event, of: store, awaits ? .promised : .posted) else {
        noteDropped(place, begun, at: time)
        return false
      }
      ended(place, .delivered, from: time, to: time, begun)
      return true
    }
    guard awaits else { return mailbox.take(event, of: store, .posted) }
    let begun = begins(place, &time, isSynchronous: false)
    var delivery = ObservedDelivery(to: place, begun, began: time)
    let wait = wait ?? beginWait()
    // `awaited` stays nil if the handler waits for the poster, or if the wait has ended, by its deadline or by `expire`.
    var (awaited, closesCircle) = (AwaitedDelivery?.none, true)
    WaitGraph.extend(waitIn: poster, by: mailbox) {
      closesCircle = false
      awaited = wait.add(mailbox, delivery, inside: begun?.wrapper)
    }
    if let awaited {
      if mailbox.take(event, of: store, .awaited(awaited)) {
        // If the deadline came between `add` and `take`, it found no event to withdraw.
        if deadline != nil, wait.hasExpired(before: awaited) { mailbox.withdraw(awaited) }
        return true
      }
      // If the deadline came between `add` and `drop`, `noteEnds` reports a time-out.
      if !wait.drop(awaited) { return true }
    } else if !closesCircle && deadline != nil || mailbox.take(event, of: store, .promised) {
      // After a deadline the handler does not get the event. Otherwise it does, and the post does not wait for that.
      if closesCircle { delivery.outcome = .skipped }
      observer.deliveryEnded(delivery)
      return true
    }
    noteDropped(place, begun, at: time)
    return false
  }

  private func beginWait() -> PostWait {
    let wait = PostWait(now: now, errorsAreInLedger: errorsAreInLedger)
    self.wait = wait
    token = WaitGraph.beginWithoutSearch(in: poster) { wait.awaited }
    if let deadline { timer = deadlines?.set(deadline) { wait.expire() } }
    return wait
  }

  /// Returns whether the deadline has passed; if so, reports the handler as timed out.
  private func hasTimedOut(_ place: HandlerPlace, at time: Duration) -> Bool {
    guard isLate(at: time) else { return false }
    ended(place, .timedOut, from: time, to: time, nil)
    return true
  }

  /// Whether the deadline has passed, after which no handler receives the event.
  private func isLate(at time: Duration) -> Bool {
    guard let deadline else { return false }
    // A clock that cannot sleep ends the wait early.
    return deadline <= time || wait?.isExpired ?? false
  }

  private func begins(_ place: HandlerPlace, _ time: inout Duration, isSynchronous: Bool) -> BegunCall? {
    guard observer.wantsBeginnings else { return nil }
    // Read the clock again: the observer's time must not count as the handler's.
    defer { time = now() }
    return observer.handlerBegins(place.entry.subscriber, at: time, isSynchronous: isSynchronous)
  }

  private func ended(
    _ place: HandlerPlace, _ outcome: DeliveryReport.Outcome, from began: Duration, to end: Duration,
    _ begun: BegunCall?
  ) {
    var delivery = ObservedDelivery(to: place, begun, began: began)
    (delivery.outcome, delivery.duration) = (outcome, end - began)
    observer.deliveryEnded(delivery)
  }

  /// Reports that a handler was not called after all, if its beginning was reported.
  private func noteDropped(_ place: HandlerPlace, _ begun: BegunCall?, at time: Duration) {
    if begun != nil { ended(place, .cancelled, from: time, to: time, begun) }
  }

  private func noteEnds() {
    for delivery in wait?.takeEnded() ?? [] {
      // Without a ledger, the mailboxes have reported the errors.
      if errorsAreInLedger, case .threw(let error) = delivery.outcome, !delivery.isOfCancellation, let event {
        bus.core.reportFailure(error, of: delivery.subscriber, with: event, in: type(of: event), isInLedger: true)
      }
      observer.deliveryEnded(delivery)
    }
  }
}

// MARK: - Ending the wait

extension MeasuredPost {
  /// Cancels the handlers: running handlers now, and handlers that begin later from the start.
  package func cancel() { wait?.cancel() }

  /// Ends the wait, and cancels the handlers that still run; the observer gets all outcomes now.
  ///
  /// Events that are still queued are removed. Handlers that the post has not reached yet still receive the event.
  ///
  /// - Parameters:
  ///   - blames: whether the running handlers are to blame; false if other code has used up their time.
  ///   - blamesQueued: whether to blame also idle handlers whose event is still queued, because they have no thread to run on. A handler
  ///     that is busy, also with an earlier event, is blamed in any case.
  ///   - blamed: the handlers that have been blamed for the same deadline; this method adds its own.
  /// - Returns: the newly blamed handlers, in order of delivery.
  package func expire(
    blames: Bool, blamesQueued: Bool = false, besides blamed: inout Set<ObjectIdentifier>
  ) -> [EventBus.Subscriber] {
    // If the event is still queued, the handler is either busy with an earlier event, and so late, or the executor has
    // not let it run.
    let late = (blames ? wait?.awaited ?? [] : []).filter {
      (blamesQueued || $0.runUnderWay != nil) && blamed.insert(ObjectIdentifier($0)).inserted
    }
    wait?.expire(blaming: Set(late.map { ObjectIdentifier($0) }))
    noteEnds()
    return late.map(\.subscriber)
  }

  /// Ends the post when the simulated process is gone: calls no further handler, and cancels running handlers.
  package func abandon() {
    isAbandoned = true
    var blamed: Set<ObjectIdentifier> = []
    _ = expire(blames: false, besides: &blamed)
  }
}

extension EventBus {
  /// Posts a notification of the life cycle, also to subscribers of an object `wider` to which the subject belongs.
  ///
  /// The observer receives the outcome of each handler, with durations that are differences of `now`; the work waits
  /// for the asynchronous handlers. Without `pauses`, all synchronous handlers have run when the call returns.
  ///
  /// - Returns: the post for whose handlers the caller must wait, which keeps the observer; nil if there are none.
  @MainActor package func postMeasured<E: MainActorEvent>(
    _ event: E, from subject: (any AnyObject & Sendable)?, within wider: (any AnyObject & Sendable)? = nil,
    for work: any AwaitedWork,
    now: @escaping @Sendable () -> Duration, awaits: Bool, pauses: Bool, observer: any PostObserver
  ) -> MeasuredPost? {
    let post = MeasuredPost(
      of: E.self, from: subject, within: wider, on: self, by: HandlerContext(run: nil, work: work), now: now,
      observer: observer, awaits: awaits, pauses: pauses, errorsAreInLedger: true)
    return post.deliver(event) ? post : nil
  }
}
