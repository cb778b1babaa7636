extension EventBus {
  /// Posts a main-actor event, and reports the duration of each handler to an observer.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - subject: the object that the event is about.
  ///   - wider: an object to which the subject belongs; subscriptions to it receive the post, too.
  ///   - work: the work that waits for the asynchronous handlers.
  ///   - now: returns the time; the durations of handlers are differences of it.
  ///   - awaits: whether the post waits for asynchronous handlers; if not, their mailboxes get the event, as from any
  ///     post.
  ///   - pauses: whether the handlers of a priority wait for the asynchronous handlers of earlier priorities; if not,
  ///     all synchronous handlers have run when the call returns.
  ///   - observer: receives the outcome of each handler; for awaited handlers, during ``ObservedPost/finish()``.
  /// - Returns: the post for whose handlers the caller must wait, which keeps the observer alive; nil if there are
  ///   none.
  @MainActor package func postObserved<E: MainActorEvent>(
    _ event: E, from subject: (any AnyObject & Sendable)?, within wider: (any AnyObject & Sendable)? = nil,
    for work: any AwaitedWork,
    now: @escaping @Sendable () -> Duration, awaits: Bool, pauses: Bool, observer: any PostObserver
  ) -> ObservedPost? {
    let run = ObservedRun(
      event: event, bus: self, work: work, awaits: awaits, pauses: pauses, now: now, observer: observer,
      walk: WaitingWalk(event, of: core, from: subject, within: wider))
    return run.goOn(nil)
  }
}

/// The delivery of an observed post to its subscribers.
///
/// It reads the clock once for each handler: the end of one handler is the beginning of the next.
@MainActor private final class ObservedRun<E: MainActorEvent> {
  private let event: E
  private let bus: EventBus
  private let work: any AwaitedWork
  private let awaits: Bool
  private let pauses: Bool
  private let now: @Sendable () -> Duration
  private let observer: any PostObserver
  private let wantsBeginnings: Bool
  private var walk: WaitingWalk
  /// The post for whose handlers the caller must wait; set only during `goOn`.
  private var post: ObservedPost?

  init(
    event: E, bus: EventBus, work: any AwaitedWork, awaits: Bool, pauses: Bool,
    now: @escaping @Sendable () -> Duration, observer: any PostObserver, walk: WaitingWalk
  ) {
    (self.event, self.bus, self.work, self.awaits, self.pauses) = (event, bus, work, awaits, pauses)
    (self.now, self.observer, self.walk) = (now, observer, walk)
    wantsBeginnings = observer.wantsBeginnings
  }

  /// Delivers up to the first priority for which the post must wait.
  ///
  /// - Returns: the post for whose handlers the caller must wait; nil if there are none.
  func goOn(_ begun: ObservedPost?) -> ObservedPost? {
    post = begun
    defer { post = nil }
    withUnsafePointer(to: event) { event in
      var time = now()
      walk.goOn(
        with: event,
        hand: { hand(event, of: $2, to: $0, $1, &time) },
        call: { call($0, with: event, &time) },
        mustPause: { pauses && (post?.isOpen ?? false) })
    }
    if !walk.isOver, let post, !post.isAbandoned { post.proceed = { _ = self.goOn($0) } }
    return post
  }

  private func hand(
    _ event: UnsafeRawPointer, of store: HandlerStore, to receiver: Receiver, _ entry: HandlerBuffer.Entry,
    _ time: inout Duration
  ) -> Bool {
    if let registration = entry.registration, registration.isExpired {
      registration.cancel()
      return false
    }
    guard awaits, let mailbox = receiver.mailbox else {
      // Without a wait, a mailbox only stores the event, and its handler is not measured; the buffer of a sequence is.
      let isMeasured = receiver.mailbox == nil
      let id = isMeasured ? begins(entry, &time) : nil
      let began = time
      guard receiver.take(event, of: store, .posted) else { return wasDropped(entry, id, time) }
      time = now()
      if isMeasured { ended(entry, id, began, time, .delivered) }
      return true
    }
    let present = post ?? ObservedPost(self.event, on: bus, for: work, now: now, observer: observer)
    post = present
    present.handOver(event, of: store, to: mailbox)
    time = now()
    return true
  }

  /// Calls the synchronous handlers of a span; returns whether one received the event.
  private func call(_ span: DeliveryOrder.Span, with event: UnsafeRawPointer, _ time: inout Duration) -> Bool {
    // Read the properties once; otherwise each handler would cost these loads and two pairs of retain and release.
    let (observer, now, tasks, wantsBeginnings) = (observer, now, bus.tasks, wantsBeginnings)
    var isReceived = false
    observer.handlersFollow(span.count)
    for place in span.places where span.isSynchronous(at: place) {
      let entry = span.buffer.entries[place]
      var id: UInt64?
      if wantsBeginnings {
        if let registration = entry.registration, registration.isExpired {
          registration.cancel()
          continue
        }
        id = begins(entry, &time)
        // The observer may have cancelled the subscription.
        guard span.stands(at: place) else {
          _ = wasDropped(entry, id, time)
          continue
        }
      }
      let began = time
      let outcome = tasks.naming(entry.subscriber) { span.call(place, with: event) }
      time = now()
      switch outcome {
      case .returned:
        if id == nil {
          observer.handlerReturned(entry.site, began: began, ended: time)
        } else {
          ended(entry, id, began, time, .delivered)
        }
      case .threw(let error):
        bus.core.reportFailure(of: entry.subscriber, error, with: self.event, in: E.self, isNoted: true)
        ended(entry, id, began, time, .threw(error))
        time = now()
      case .ownerIsGone:
        _ = wasDropped(entry, id, began)
        continue
      }
      isReceived = true
    }
    return isReceived
  }

  private func begins(_ entry: HandlerBuffer.Entry, _ time: inout Duration) -> UInt64? {
    guard wantsBeginnings else { return nil }
    let id = observer.handlerBegins(entry.subscriber, at: time, isSynchronous: true)
    // Read the clock again: the observer's time must not count as the handler's.
    time = now()
    return id
  }

  private func ended(
    _ entry: HandlerBuffer.Entry, _ id: UInt64?, _ began: Duration, _ ended: Duration,
    _ outcome: ObservedDelivery.Outcome
  ) {
    observer.deliveryEnded(
      .init(subscriber: entry.subscriber, began: began, duration: ended - began, outcome: outcome, call: id))
  }

  /// Reports that a handler was not called after all, if its beginning was reported; returns false: it received
  /// nothing.
  private func wasDropped(_ entry: HandlerBuffer.Entry, _ id: UInt64?, _ time: Duration) -> Bool {
    if id != nil { ended(entry, id, time, time, .dropped) }
    return false
  }
}
