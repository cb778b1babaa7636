internal import Scheduling
internal import Synchronization

/// The queue of one asynchronous handler: the handler runs with one event at a time, in the order of posting, and never
/// blocks the poster.
///
/// A mailbox starts one task for each burst of events, and has no task while it is idle. The task inherits nothing from
/// the poster that woke the mailbox: it has the priority of the code that subscribed, and no task-local value. The task
/// takes all queued events at once as a batch, unless the mailbox is bounded. Rare attributes (awaited deliveries, lost
/// events) are stored beside the events.
final class Mailbox<Element: Sendable>: Receiver, @unchecked Sendable {
  /// The conversions between events and elements; `Element` is an event type `E`, `Received<E>` or `any BusEvent`.
  struct Form: Sendable {
    /// Makes the element for the event of a store at an address.
    let element: @Sendable (UnsafeRawPointer, HandlerStore) -> Element
    let eventType: @Sendable (Element) -> any BusEvent.Type
    /// Returns the event of an element; nil if the element reports lost events.
    let event: @Sendable (Element) -> (any BusEvent)?
    /// Makes the element that reports a number of lost events; nil if the mailbox has no bound.
    let missed: (@Sendable (Int) -> Element)?
  }

  let subscriber: Subscriber
  private let form: Form
  /// A closure in a struct: a closure that is itself the value of a generic type costs a wrapper each time it is read.
  private struct Handler: Sendable {
    let call: @Sendable (Element) async throws -> Void
  }

  /// The handler; nil once the mailbox is closed.
  ///
  /// Tasks that the handler started, and posts under way, may keep the mailbox much longer than the subscription lasts.
  /// They must not keep what the handler captured.
  private let handler: Guarded<Handler?>
  private let tasks: TaskStarter
  /// The priority of the code that subscribed.
  private let priority: TaskPriority
  /// The ``SharedObject`` of the code that subscribed; weak, because the object may keep the bus alive.
  private let shared: WeakReference?
  private weak let bus: EventBus?
  /// Ends the subscription when a run finds that its owner has been released; set before any event is held.
  var whenOwnerIsGone: (@Sendable () -> Void)?
  private let state: Guarded<MailboxState>
  /// The number of the present run, which is odd; an even number while no handler runs.
  ///
  /// Only the running task writes it, so it needs no read-modify-write.
  private let runs = Atomic<UInt64>(0)
  /// Whether the mailbox is closed; the run reads it before each event, so that cancelling takes effect within a batch.
  private let isClosed = Atomic(false)

  init(
    subscriber: Subscriber, bus: EventBus, buffering: Buffering, form: Form,
    handler: @escaping @Sendable (Element) async throws -> Void
  ) {
    self.subscriber = subscriber
    self.form = form
    self.handler = Guarded(Handler(call: handler))
    self.bus = bus
    tasks = bus.tasks
    priority = Task.currentPriority
    shared = SharedObject.current.map(WeakReference.init)
    state = Guarded(MailboxState(buffering))
    super.init()
  }

  deinit {
    for events in state.withLock({ $0.close() }).events { release(events) }
  }

  override var mailbox: (any AsynchronousReceiver)? { self }

  // MARK: Adding events

  override func hold(_ event: UnsafeRawPointer, of store: HandlerStore, _ purpose: HoldPurpose) -> HoldOutcome {
    let element = form.element(event, store)
    let report = Report.ofPost(to: store)
    return state.withLock { state in
      if state.isClosed { return .nothing }
      state.queue.append(element, purpose, inside: report)
      return state.shouldWake() ? [.isHeld, .sleeps] : .isHeld
    }
  }

  override func wake() {
    let (starts, dropped) = state.withLock { ($0.shouldStart(), $0.queue.takeDropped()) }
    dropped.map { release($0) }
    if starts { start(with: RawEvents()) }
  }

  private func release(_ events: RawEvents) {
    var events = events
    events.removeAll(as: Element.self)
    events.free()
  }
}

// MARK: - Running

extension Mailbox {
  private func start(with rest: RawEvents) {
    let number = state.withLock { $0.nextTask() }
    let task = tasks.start(priority: priority, seeing: shared?.object) { await self.run(rest) }
    let isCancelled = state.withLock { $0.keep(task, number: number) }
    if isCancelled { task.cancel() }
  }

  private func run(_ rest: RawEvents) async {
    // Without a handler the mailbox is closed, and no step handles an event.
    let handler = handler.withLock { $0 } ?? Handler { _ in }
    var batch = rest
    while true {
      switch state.withLock({ $0.nextStep(&batch, as: Element.self) }) {
      case .handle(let count):
        for _ in 0..<count {
          if isClosed.load(ordering: .relaxed) { break }
          await handle(batch.takeFirst(as: Element.self), handler)
        }
      case .handleInside(let report): await handle(batch.takeFirst(as: Element.self), handler, inside: report)
      case .handleAwaited(let delivery, let report):
        await handle(batch.takeFirst(as: Element.self), handler, for: delivery, inside: report)
      case .tellMissed(let gap):
        if let missed = form.missed { await handle(missed(gap.count), handler, inside: gap.report) }
      case .drop: batch.removeAll(as: Element.self)
      case .leave: return start(with: batch)
      case .end(let actions):
        batch.free()
        for action in actions { action() }
        return
      }
    }
  }

  private func handle(_ element: Element, _ handler: Handler, inside report: Report? = nil) async {
    let run = nextRun(with: element, cause: nil, inside: report)
    do {
      try await call(handler, with: element, run)
    } catch is HandlerRun.Cancelled {
      return
    } catch is HandlerRun.OwnerIsGone {
      whenOwnerIsGone?()
    } catch {
      self.report(error, of: run, element)
    }
  }

  private func handle(
    _ element: Element, _ handler: Handler, for delivery: AwaitedDelivery, inside report: Report?
  ) async {
    switch delivery.post.begin(delivery) {
    case .withdrawn: return
    case .begun: break
    case .begunCancelled:
      state.withLock { $0.noteCancelledTask() }
      withUnsafeCurrentTask { $0?.cancel() }
    }
    let run = nextRun(with: element, cause: delivery.post, inside: report)
    do {
      try await call(handler, with: element, run)
      delivery.post.end(delivery, .delivered)
    } catch is HandlerRun.Cancelled {
      delivery.post.end(delivery, .cancelled)
    } catch is HandlerRun.OwnerIsGone {
      delivery.post.end(delivery, .cancelled)
      whenOwnerIsGone?()
    } catch {
      let isFailure = error.isFailure
      let isInTime = delivery.post.isOpen(delivery)
      // Report first: the poster may go on, and end the process, as soon as the delivery has ended.
      if isFailure, !delivery.post.reportsErrors { self.report(error, of: run, element, hasRecipient: isInTime) }
      // After the deadline the post no longer takes the error.
      if !delivery.post.end(delivery, .threw(error)), isFailure, delivery.post.reportsErrors {
        self.report(error, of: run, element)
      }
    }
  }

  private func report(_ error: any Error, of run: HandlerRun, _ element: Element, hasRecipient: Bool = false) {
    bus?.core.reportFailure(
      of: subscriber, error, with: form.event(element), in: run.eventType, inside: run.report,
      hasRecipient: hasRecipient)
  }

  private func nextRun(with element: Element, cause: AwaitedPost?, inside report: Report?) -> HandlerRun {
    let type = form.eventType(element)
    return HandlerRun(
      receiver: self, number: runs.load(ordering: .relaxed) + 1, eventType: type, cause: cause,
      report: report ?? Report(type))
  }

  private func call(_ handler: Handler, with element: Element, _ run: HandlerRun) async throws {
    runs.store(run.number, ordering: .releasing)
    defer { runs.store(run.number + 1, ordering: .releasing) }
    try await HandlerContext.$current.withValue(HandlerContext(run: run, work: nil)) { try await handler.call(element) }
  }
}

// MARK: - The interface to the bus

extension Mailbox: AsynchronousReceiver {
  var isCancelled: Bool { isClosed.load(ordering: .acquiring) }

  var runUnderWay: UInt64? {
    let number = runs.load(ordering: .acquiring)
    return number & 1 == 1 ? number : nil
  }

  func withdraw(_ delivery: AwaitedDelivery) {
    // The removed event is released after the lock: its deinitializer may call the bus.
    _ = state.withLock { $0.queue.withdraw(delivery, as: Element.self) }
  }

  func cancelRun(of delivery: AwaitedDelivery) { state.withLock { $0.cancelTask(of: delivery) }?.cancel() }

  func close() {
    isClosed.store(true, ordering: .releasing)
    let (events, marks, actions) = state.withLock { $0.close() }
    // After the state, so that a run that finds no handler finds the mailbox closed.
    _ = handler.withLock { $0.take() }
    for delivery in marks.compactMap(\.delivery) { delivery.post.end(delivery, .cancelled) }
    for events in events { release(events) }
    for action in actions { action() }
  }

  func whenIdle(_ action: @escaping @Sendable () -> Void) {
    if !state.withLock({ $0.keepsUntilIdle(action) }) { action() }
  }
}
