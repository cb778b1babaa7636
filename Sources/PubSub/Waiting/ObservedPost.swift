/// What became of an observed post at one subscriber.
package struct ObservedDelivery: Sendable {
  package enum Outcome: Sendable {
    case delivered
    case threw(any Error)
    /// The handler was cancelled, and ended in time.
    case cancelled
    /// The handler had not ended when it was no longer waited for.
    case late
    /// It had no chance to end, or to begin, before it was no longer waited for.
    case cutShort
    /// The subscription was cancelled before the handler was called; told only where its beginning was.
    case dropped
  }

  package let subscriber: Subscriber
  package let began: Duration
  package let duration: Duration
  package let outcome: Outcome
  /// What ``ObservedPost/Begin`` has returned for it.
  package var call: UInt64?
}

/// The asynchronous part of a post of a life cycle: it measures each handler, and names those that are late.
///
/// It shares the machinery of `postAndWait` (mailboxes, the wait graph, priorities one after another), and differs in three
/// points. It begins without suspending: synchronous handlers have run when ``EventBus/postObserved(_:from:for:now:awaits:begin:note:later:)``
/// returns, but for those of a later priority than an asynchronous one. Its user sets the deadline. Every handler receives the
/// event, also after the deadline or a cancelled wait.
@MainActor package final class ObservedPost {
  private struct Open {
    let subscriber: Subscriber
    let receiver: any AsynchronousReceiver
    let delivery: AwaitedDelivery
    let began: Duration
    let call: UInt64?
    var isLate = false
  }

  /// Is called before a handler is: what the delivery's note refers to.
  package typealias Begin = @MainActor (Subscriber, _ began: Duration, _ isSynchronous: Bool) -> UInt64?

  let awaited: AwaitedPost
  private let begin: Begin?
  private let bus: EventBus
  private let event: any BusEvent
  private let now: @Sendable () -> Duration
  private let note: @MainActor (ObservedDelivery) -> Void
  private let token: WaitToken?
  private var open: [Open] = []
  private var isExpired = false
  fileprivate private(set) var isAbandoned = false
  /// Delivers to the next priorities, up to one that has to be waited for.
  fileprivate var proceed: (@MainActor (ObservedPost) -> Void)?

  fileprivate init(
    _ event: any BusEvent, on bus: EventBus, for work: any AwaitedWork, now: @escaping @Sendable () -> Duration,
    begin: Begin?, note: @escaping @MainActor (ObservedDelivery) -> Void
  ) {
    (self.event, self.bus, self.now, self.begin, self.note) = (event, bus, now, begin, note)
    let awaited = AwaitedPost(poster: HandlerContext(run: nil, work: work), now: now)
    token = WaitGraph.begin(in: awaited.poster) { awaited.awaited }
    self.awaited = awaited
  }

  /// Whether an earlier priority has to be waited for.
  fileprivate var isOpen: Bool { !awaited.awaited.isEmpty }

  /// Gives an event to an asynchronous handler, to be waited for if there is still time.
  fileprivate func handOver(
    _ event: UnsafeRawPointer, of store: HandlerStore, to mailbox: any AsynchronousReceiver
  ) {
    var time = now()
    let call = begin?(mailbox.subscriber, time, false)
    // What watches takes none of the handler's time.
    if call != nil { time = now() }
    let delivery =
      isExpired ? nil : WaitGraph.extend(waitIn: awaited.poster, by: mailbox) { awaited.add(mailbox, at: time) } ?? nil
    guard let delivery else {
      _ = mailbox.take(event, of: store, .promised)
      return note(
        .init(subscriber: mailbox.subscriber, began: time, duration: .zero, outcome: .cutShort, call: call))
    }
    open.append(Open(subscriber: mailbox.subscriber, receiver: mailbox, delivery: delivery, began: time, call: call))
    if !mailbox.take(event, of: store, .awaited(delivery)) { awaited.cancelled(delivery) }
  }

  /// Waits for the handlers, and for those of later priorities; notes what became of each.
  package func finish() async {
    await awaited.wait()
    while let proceed {
      self.proceed = nil
      proceed(self)
      await awaited.wait()
    }
    awaited.finish()
    token?.end()
    noteEnds()
  }

  private func noteEnds() {
    for one in open { noteEnd(of: one) }
    open = []
  }

  private func noteEnd(of one: Open) {
    let (outcome, duration) = awaited.outcome(one.delivery)
    let result: ObservedDelivery.Outcome
    switch outcome {
    case .delivered: result = .delivered
    case .threw(let error) where error is CancellationError: result = .cancelled
    case .threw(let error):
      result = .threw(error)
      // Reported as for any other post, as the life cycle's report has no errors of handlers.
      bus.reportFailure(of: one.subscriber, error, with: event, in: Swift.type(of: event))
    case .cancelled:
      guard one.call != nil else { return }
      result = .dropped
    case .timedOut: result = one.isLate ? .late : .cutShort
    case .skipped: result = .cutShort
    }
    note(.init(subscriber: one.subscriber, began: one.began, duration: duration, outcome: result, call: one.call))
  }
}

// MARK: - Ending the wait

extension ObservedPost {
  /// The handlers are to be quick: those that run are cancelled, and those that begin later from the start.
  package func cancel() { awaited.cancel() }

  /// Nothing is waited for any longer; what still runs is cancelled.
  ///
  /// What became of each is noted now. ``finish()`` returns soon; handlers that have not received the event by then still
  /// receive it.
  ///
  /// - Parameters:
  ///   - blames: whether the handlers that run are to blame; false if other code has used up their time.
  ///   - blamed: the handlers of other posts that have been blamed for the same deadline; those of this post are added.
  /// - Returns: the other handlers to blame, in order of delivery.
  package func expire(blames: Bool, besides blamed: inout Set<ObjectIdentifier>) -> [Subscriber] {
    isExpired = true
    let openReceivers = Set(awaited.awaited.map { ObjectIdentifier($0) })
    if blames {
      for index in open.indices {
        let receiver = open[index].receiver
        // One whose turn has not come is busy with an earlier event, or was not let run at all.
        let isLate = openReceivers.contains(ObjectIdentifier(receiver)) && receiver.runUnderWay != nil
        open[index].isLate = isLate && blamed.insert(ObjectIdentifier(receiver)).inserted
      }
    }
    awaited.expire()
    let late = open.filter(\.isLate).map(\.subscriber)
    noteEnds()
    return late
  }

  /// Ends the post, as the process is gone: no further handler is called, and those that run are cancelled.
  package func abandon() {
    (proceed, isAbandoned) = (nil, true)
    var blamed: Set<ObjectIdentifier> = []
    _ = expire(blames: false, besides: &blamed)
  }
}

// MARK: - Posting

extension EventBus {
  /// Posts a main-actor event, and tells of each synchronous handler, when it has returned, how long it took.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - subject: what it happened to.
  ///   - work: the work that waits for the asynchronous handlers.
  ///   - now: measures the handlers.
  ///   - awaits: whether asynchronous handlers are waited for; else they get the event in their mailbox, as from any post.
  ///   - begin: is called before each handler that `note` will be called for; nil where nothing wants to know.
  ///   - note: called with what became of each synchronous handler and each sequence; not kept when this has returned.
  ///   - later: the same for what is noted later: asynchronous handlers, in ``ObservedPost/finish()``, and later priorities.
  /// - Returns: what is to be waited for; nil if nothing is.
  @MainActor package func postObserved<E: MainActorEvent>(
    _ event: E, from subject: (any AnyObject & Sendable)?, for work: any AwaitedWork,
    now: @escaping @Sendable () -> Duration, awaits: Bool,
    begin: ObservedPost.Begin? = nil, note: @escaping @MainActor (ObservedDelivery) -> Void,
    later: @escaping @MainActor (ObservedDelivery) -> Void
  ) -> ObservedPost? {
    let run = ObservedRun(
      event: event, bus: self, work: work, awaits: awaits, now: now, begin: begin, note: note, later: later,
      walk: WaitingWalk(event, of: core, from: subject))
    return run.goOn(nil)
  }
}

/// An observed post on its way through its subscribers.
@MainActor private final class ObservedRun<E: MainActorEvent> {
  private let event: E
  private let bus: EventBus
  private let work: any AwaitedWork
  private let awaits: Bool
  private let now: @Sendable () -> Duration
  private let begin: ObservedPost.Begin?
  /// The second from the first pause on.
  private var note: @MainActor (ObservedDelivery) -> Void
  private let later: @MainActor (ObservedDelivery) -> Void
  private var walk: WaitingWalk
  /// What is to be waited for; known while this goes on.
  private var post: ObservedPost?

  init(
    event: E, bus: EventBus, work: any AwaitedWork, awaits: Bool, now: @escaping @Sendable () -> Duration,
    begin: ObservedPost.Begin?, note: @escaping @MainActor (ObservedDelivery) -> Void,
    later: @escaping @MainActor (ObservedDelivery) -> Void, walk: WaitingWalk
  ) {
    (self.event, self.bus, self.work, self.awaits, self.walk) = (event, bus, work, awaits, walk)
    (self.now, self.begin, self.note, self.later) = (now, begin, note, later)
  }

  /// Delivers up to the first priority behind one that has to be waited for.
  ///
  /// - Returns: what is to be waited for; nil if nothing is.
  func goOn(_ begun: ObservedPost?) -> ObservedPost? {
    post = begun
    defer { post = nil }
    withUnsafePointer(to: event) { event in
      // The end of one handler is the beginning of the next: a look at the clock for each.
      var time = now()
      walk.goOn(
        with: event,
        WaitingWalk.Visitor(
          hand: { receiver, entry, store in self.hand(event, of: store, to: receiver, entry, &time) },
          call: { span, place in self.call(span, place, with: event, &time) },
          mustPause: { self.post?.isOpen ?? false }))
    }
    note = later
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
      let id = isMeasured ? began(entry, &time) : nil
      let began = time
      guard receiver.take(event, of: store, .posted) else { return wasDropped(entry, id, time) }
      time = now()
      if isMeasured { ended(entry, id, began, time, .delivered) }
      return true
    }
    let present = post ?? ObservedPost(self.event, on: bus, for: work, now: now, begin: begin, note: later)
    post = present
    present.handOver(event, of: store, to: mailbox)
    time = now()
    return true
  }

  private func call(_ span: Walk.Span, _ place: Int, with event: UnsafeRawPointer, _ time: inout Duration) -> Bool {
    let entry = span.buffer.entries[place]
    var id: UInt64?
    if begin != nil {
      if let registration = entry.registration, registration.isExpired {
        registration.cancel()
        return false
      }
      id = began(entry, &time)
      // What watches may have cancelled the subscription.
      guard span.stands(at: place) else { return wasDropped(entry, id, time) }
    }
    let began = time
    let outcome = bus.tasks.naming(entry.subscriber) { span.call(place, with: event) }
    time = now()
    switch outcome {
    case .ownerIsGone: return wasDropped(entry, id, began)
    case .returned: ended(entry, id, began, time, .delivered)
    case .threw(let error):
      bus.reportFailure(of: entry.subscriber, error, with: self.event, in: E.self)
      ended(entry, id, began, time, .threw(error))
      time = now()
    }
    return true
  }

  /// Notes that a handler whose beginning was observed was not called after all; false, as it received nothing.
  private func wasDropped(_ entry: HandlerBuffer.Entry, _ id: UInt64?, _ time: Duration) -> Bool {
    if id != nil { ended(entry, id, time, time, .dropped) }
    return false
  }

  private func began(_ entry: HandlerBuffer.Entry, _ time: inout Duration) -> UInt64? {
    guard let begin else { return nil }
    let id = begin(entry.subscriber, time, true)
    // What watches takes none of the handler's time.
    time = now()
    return id
  }

  private func ended(
    _ entry: HandlerBuffer.Entry, _ id: UInt64?, _ began: Duration, _ ended: Duration,
    _ outcome: ObservedDelivery.Outcome
  ) {
    note(
      .init(subscriber: entry.subscriber, began: began, duration: ended - began, outcome: outcome, call: id))
  }
}
