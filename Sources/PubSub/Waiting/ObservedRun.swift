extension EventBus {
  /// Posts a main-actor event, and tells of each synchronous handler, when it has returned, how long it took.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - subject: what it happened to.
  ///   - work: the work that waits for the asynchronous handlers.
  ///   - now: measures the handlers.
  ///   - awaits: whether asynchronous handlers are waited for; else they get the event in their mailbox, as from any post.
  ///   - observer: is told what became of each handler; of those that are waited for, in ``ObservedPost/finish()``.
  /// - Returns: what is to be waited for, which keeps the observer; nil if nothing is.
  @MainActor package func postObserved<E: MainActorEvent>(
    _ event: E, from subject: (any AnyObject & Sendable)?, for work: any AwaitedWork,
    now: @escaping @Sendable () -> Duration, awaits: Bool, observer: any PostObserver
  ) -> ObservedPost? {
    let run = ObservedRun(
      event: event, bus: self, work: work, awaits: awaits, now: now, observer: observer,
      walk: WaitingWalk(event, of: core, from: subject))
    return run.goOn(nil)
  }
}

/// An observed post on its way through its subscribers.
///
/// It looks at the clock once for each handler: the end of one is the beginning of the next.
@MainActor private final class ObservedRun<E: MainActorEvent> {
  private let event: E
  private let bus: EventBus
  private let work: any AwaitedWork
  private let awaits: Bool
  private let now: @Sendable () -> Duration
  private let observer: any PostObserver
  private let wantsBeginnings: Bool
  private var walk: WaitingWalk
  /// What is to be waited for; known while this goes on.
  private var post: ObservedPost?

  init(
    event: E, bus: EventBus, work: any AwaitedWork, awaits: Bool, now: @escaping @Sendable () -> Duration,
    observer: any PostObserver, walk: WaitingWalk
  ) {
    (self.event, self.bus, self.work, self.awaits) = (event, bus, work, awaits)
    (self.now, self.observer, self.walk) = (now, observer, walk)
    wantsBeginnings = observer.wantsBeginnings
  }

  /// Delivers up to the first priority behind one that has to be waited for.
  ///
  /// - Returns: what is to be waited for; nil if nothing is.
  func goOn(_ begun: ObservedPost?) -> ObservedPost? {
    post = begun
    defer { post = nil }
    withUnsafePointer(to: event) { event in
      var time = now()
      walk.goOn(
        with: event,
        hand: { hand(event, of: $2, to: $0, $1, &time) },
        call: { call($0, with: event, &time) },
        mustPause: { post?.isOpen ?? false })
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
      // A mailbox only stores the event here; its handler runs later, and is measured then.
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

  /// Calls the handlers of a span; returns whether one received the event.
  private func call(_ span: DeliveryOrder.Span, with event: UnsafeRawPointer, _ time: inout Duration) -> Bool {
    // Read once: each is a load for each handler, and two that count references.
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
        // What watches may have cancelled the subscription.
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
        bus.reportFailure(of: entry.subscriber, error, with: self.event, in: E.self)
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
    // What watches takes none of the handler's time.
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

  /// Notes that a handler whose beginning was told was not called after all; false, as it received nothing.
  private func wasDropped(_ entry: HandlerBuffer.Entry, _ id: UInt64?, _ time: Duration) -> Bool {
    if id != nil { ended(entry, id, time, time, .dropped) }
    return false
  }
}
