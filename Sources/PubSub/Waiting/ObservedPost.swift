/// The asynchronous part of a life cycle's post: it measures each handler, and names the handlers that exceed the
/// budget.
///
/// It works like `postAndWait` (mailboxes, the wait graph, priorities one after another), with three differences:
///
/// - It begins without suspending. When ``EventBus/postObserved(_:from:for:now:awaits:pauses:observer:)`` returns, all
///   synchronous handlers have run. If the post pauses, those of a later priority than an asynchronous handler have not.
/// - Its user sets the deadline.
/// - Handlers of later priorities receive the event even after the deadline or a cancelled wait.
@MainActor package final class ObservedPost {
  private struct Open {
    let subscriber: Subscriber
    let receiver: any AsynchronousReceiver
    let delivery: AwaitedDelivery
    let began: Duration
    let call: UInt64?
    var isLate = false
  }

  let awaited: AwaitedPost
  private let bus: EventBus
  private let event: any BusEvent
  private let now: @Sendable () -> Duration
  private let observer: any PostObserver
  private let token: WaitToken?
  private var open: [Open] = []
  private var isExpired = false
  private(set) var isAbandoned = false
  /// Delivers to the next priorities, up to a priority for which the post must wait.
  var proceed: (@MainActor (ObservedPost) -> Void)?

  init(
    _ event: any BusEvent, on bus: EventBus, for work: any AwaitedWork, now: @escaping @Sendable () -> Duration,
    observer: any PostObserver
  ) {
    (self.event, self.bus, self.now, self.observer) = (event, bus, now, observer)
    let awaited = AwaitedPost(poster: HandlerContext(run: nil, work: work), now: now, reportsErrors: true)
    token = WaitGraph.begin(in: awaited.poster) { awaited.awaited }
    self.awaited = awaited
  }

  /// Whether the post must wait for an earlier priority.
  var isOpen: Bool { !awaited.awaited.isEmpty }

  /// Gives the event to an asynchronous handler; the post waits for the handler unless the deadline has passed.
  func handOver(_ event: UnsafeRawPointer, of store: HandlerStore, to mailbox: any AsynchronousReceiver) {
    var time = now()
    let call =
      observer.wantsBeginnings ? observer.handlerBegins(mailbox.subscriber, at: time, isSynchronous: false) : nil
    // Read the clock again: the observer's time must not count as the handler's.
    if call != nil { time = now() }
    let delivery =
      isExpired ? nil : WaitGraph.extend(waitIn: awaited.poster, by: mailbox) { awaited.add(mailbox, at: time) } ?? nil
    guard let delivery else {
      _ = mailbox.take(event, of: store, .promised)
      return observer.deliveryEnded(
        .init(subscriber: mailbox.subscriber, began: time, duration: .zero, outcome: .cutShort, call: call))
    }
    open.append(Open(subscriber: mailbox.subscriber, receiver: mailbox, delivery: delivery, began: time, call: call))
    if !mailbox.take(event, of: store, .awaited(delivery)) { awaited.cancelled(delivery) }
  }

  /// Waits for the handlers, including those of later priorities, and reports each outcome to the observer.
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
    case .threw(let error) where error is CancellationError && awaited.isCancelled: result = .cancelled
    case .threw(let error):
      result = .threw(error)
      bus.core.reportFailure(of: one.subscriber, error, with: event, in: Swift.type(of: event), isNoted: true)
    case .cancelled:
      guard one.call != nil else { return }
      result = .dropped
    case .timedOut: result = one.isLate ? .late : .cutShort
    case .skipped: result = .cutShort
    }
    observer.deliveryEnded(
      .init(subscriber: one.subscriber, began: one.began, duration: duration, outcome: result, call: one.call))
  }
}

// MARK: - Ending the wait

extension ObservedPost {
  /// Cancels the handlers: running handlers now, and handlers that begin later from the start.
  package func cancel() { awaited.cancel() }

  /// Ends the wait, and cancels the handlers that still run.
  ///
  /// The observer gets all outcomes now, and ``finish()`` returns soon. Handlers that have not received the event by
  /// then still receive it.
  ///
  /// - Parameters:
  ///   - blames: whether the running handlers are to blame; false if other code has used up their time.
  ///   - blamesQueued: whether to blame also the handlers that have not begun, because they have no thread to run on.
  ///   - blamed: the handlers of other posts that have been blamed for the same deadline; this method adds the handlers
  ///     of this post.
  /// - Returns: the newly blamed handlers, in order of delivery.
  package func expire(
    blames: Bool, blamesQueued: Bool = false, besides blamed: inout Set<ObjectIdentifier>
  ) -> [Subscriber] {
    isExpired = true
    let openReceivers = Set(awaited.awaited.map { ObjectIdentifier($0) })
    if blames {
      for index in open.indices {
        let receiver = open[index].receiver
        // If the event is still queued, the handler is either busy with an earlier event, and so late, or the executor
        // has not let it run.
        let isLate =
          openReceivers.contains(ObjectIdentifier(receiver)) && (blamesQueued || receiver.runUnderWay != nil)
        open[index].isLate = isLate && blamed.insert(ObjectIdentifier(receiver)).inserted
      }
    }
    awaited.expire()
    let late = open.filter(\.isLate).map(\.subscriber)
    noteEnds()
    return late
  }

  /// Ends the post when the simulated process is gone: calls no further handler, and cancels running handlers.
  package func abandon() {
    (proceed, isAbandoned) = (nil, true)
    var blamed: Set<ObjectIdentifier> = []
    _ = expire(blames: false, besides: &blamed)
  }
}
