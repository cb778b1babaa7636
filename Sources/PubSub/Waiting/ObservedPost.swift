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
/// points. It begins without suspending: synchronous handlers have run when ``EventBus/postObserved(_:from:for:now:awaits:begin:note:)``
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
  fileprivate func handOver(_ event: any BusEvent, to mailbox: any AsynchronousReceiver) {
    var time = now()
    let call = begin?(mailbox.subscriber, time, false)
    // What watches takes none of the handler's time.
    if call != nil { time = now() }
    let delivery =
      isExpired ? nil : WaitGraph.extend(waitIn: awaited.poster, by: mailbox) { awaited.add(mailbox, at: time) } ?? nil
    guard let delivery else {
      mailbox.takePromised(event)
      return note(
        .init(subscriber: mailbox.subscriber, began: time, duration: .zero, outcome: .cutShort, call: call))
    }
    open.append(Open(subscriber: mailbox.subscriber, receiver: mailbox, delivery: delivery, began: time, call: call))
    if !mailbox.take(event, for: delivery) { awaited.cancelled(delivery) }
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
    proceed = nil
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
  ///   - note: told of each handler: synchronous ones at once, asynchronous ones in ``ObservedPost/finish()``.
  /// - Returns: what is to be waited for; nil if nothing is.
  @MainActor package func postObserved<E: MainActorEvent>(
    _ event: E, from subject: (any AnyObject & Sendable)?, for work: any AwaitedWork,
    now: @escaping @Sendable () -> Duration, awaits: Bool,
    begin: ObservedPost.Begin? = nil, note: @escaping @MainActor (ObservedDelivery) -> Void
  ) -> ObservedPost? {
    let recipients = core.recipients(of: event, from: subject)
    guard !recipients.list.isEmpty else { return nil }
    var run = ObservedRun(
      event: event, bus: self, work: work, recipients: recipients, now: now, begin: begin, note: note)
    return run.deliver(for: nil, awaits: awaits)
  }
}

/// An observed post on its way through its subscribers.
@MainActor private struct ObservedRun<E: MainActorEvent> {
  let event: E
  let bus: EventBus
  let work: any AwaitedWork
  let recipients: Recipients
  let now: @Sendable () -> Duration
  let begin: ObservedPost.Begin?
  let note: @MainActor (ObservedDelivery) -> Void
  var next = 0

  /// Delivers up to the first priority behind one that has to be waited for.
  mutating func deliver(for begun: ObservedPost?, awaits: Bool) -> ObservedPost? {
    var post = begun
    let list = recipients.list
    var calls = SynchronousCalls(of: bus.core, in: recipients.store)
    // The end of one handler is the beginning of the next: a look at the clock for each.
    var time = now()
    while next < list.count {
      let recipient = list[next]
      if let post, next > 0, list[next - 1].priority != recipient.priority, post.isOpen {
        let rest = self
        post.proceed = { post in
          var rest = rest
          _ = rest.deliver(for: post, awaits: true)
        }
        break
      }
      next += 1
      if let registration = recipient.registration {
        if registration.isExpired {
          registration.cancel()
          continue
        }
        if awaits, let mailbox = registration.mailbox {
          calls.end()
          let present = post ?? ObservedPost(event, on: bus, for: work, now: now, begin: begin, note: note)
          present.handOver(event, to: mailbox)
          post = present
          continue
        }
      }
      if calls.begin(recipient) { call(recipient, &calls, &time) }
    }
    calls.end()
    return post
  }

  private func call(_ recipient: Recipient, _ calls: inout SynchronousCalls, _ time: inout Duration) {
    var id: UInt64?
    // A mailbox only stores the event here; its handler runs later, and is measured then.
    let isCounted = recipient.registration?.mailbox == nil
    if isCounted, let begin {
      id = begin(recipient.subscriber, time, true)
      // What watches takes none of the handler's time, and may have cancelled its subscription.
      time = now()
      guard id == nil || calls.begin(recipient) else {
        return note(.init(subscriber: recipient.subscriber, began: time, duration: .zero, outcome: .dropped, call: id))
      }
    }
    let began = time
    var outcome = ObservedDelivery.Outcome.delivered
    do {
      try bus.tasks.naming(recipient.subscriber) { try recipient.deliver(event) }
    } catch {
      outcome = .threw(error)
      bus.reportFailure(of: recipient.subscriber, error, with: event, in: E.self)
    }
    time = now()
    guard isCounted else { return }
    note(.init(subscriber: recipient.subscriber, began: began, duration: time - began, outcome: outcome, call: id))
  }
}
