internal import Scheduling
internal import Synchronization

/// The queue of one asynchronous handler: the handler runs with one event at a time, in the order of posting, and never
/// blocks the poster.
///
/// A mailbox starts one task for each burst of events, and has no task while it is idle. The task inherits nothing from
/// the poster that woke the mailbox: it has the priority of the code that subscribed, and no task-local value. The task
/// takes all queued events at once as a batch, unless the mailbox is bounded. Rare attributes (awaited deliveries, lost
/// events) are stored beside the events.
///
/// `Element` is an event type or `any EventBus.Event`.
final class Mailbox<Element: Sendable>: Receiver, @unchecked Sendable {
  /// The conversions between events and elements.
  struct Conversions: Sendable {
    /// Makes the element for the event of a store at an address.
    let element: @Sendable (UnsafeRawPointer, HandlerStore) -> Element
    let eventType: @Sendable (Element) -> any EventBus.Event.Type
    /// The type of lost events; nil if it is not known.
    let missedType: (any EventBus.Event.Type)?
  }

  /// What a mailbox calls, in a struct: a closure that is itself the value of a generic type costs a wrapper each time
  /// that it is read.
  struct Handler: Sendable {
    let call: @Sendable (Element) async throws -> Void
    /// Called with the number of lost events; nil if the loss is ignored.
    let missed: (@Sendable (Int) async throws -> Void)?

    init(_ call: @escaping @Sendable (Element) async throws -> Void, missed: (@Sendable (Int) async throws -> Void)?) {
      (self.call, self.missed) = (call, missed)
    }

    static var none: Handler { Handler({ _ in }, missed: nil) }
  }

  let subscriber: EventBus.Subscriber
  private let conversions: Conversions

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
  /// Ends the subscription, when a run finds that its owner has been released, or after its only event; set before any
  /// event is held.
  var endSubscription: (@Sendable () -> Void)?
  private let isOnce: Bool
  private let state: Guarded<MailboxState>
  /// The number of the present run, which is odd; an even number while no handler runs.
  ///
  /// Only the running task writes it, so it needs no read-modify-write.
  private let runs = Atomic<UInt64>(0)
  /// Whether the mailbox is closed; the run reads it before each event, so that cancelling takes effect within a batch.
  private let closed = Atomic(false)

  init(
    _ subscriber: EventBus.Subscriber, bus: EventBus, _ buffering: EventBus.Buffering, once: Bool,
    _ conversions: Conversions,
    _ handler: Handler
  ) {
    self.subscriber = subscriber
    self.conversions = conversions
    self.handler = Guarded(handler)
    self.bus = bus
    tasks = bus.tasks
    priority = Task.currentPriority
    shared = SharedObject.current.map(WeakReference.init)
    isOnce = once
    state = Guarded(MailboxState(buffering, once: once))
    super.init()
  }

  deinit {
    for events in state.withLock({ $0.close() }).events { release(events) }
  }

  override var mailbox: (any AnyMailbox)? { self }

  // MARK: Adding events

  override func hold(_ event: UnsafeRawPointer, of store: HandlerStore, _ purpose: HoldPurpose) -> HoldOutcome {
    let element = conversions.element(event, store)
    // Of lost events of unknown types only the report remains.
    let report = SelfReport.ofPost(to: store, countsOwn: conversions.missedType == nil)
    return state.withLock { state in
      if state.refusesEvents { return .nothing }
      state.queue.append(element, purpose, inside: report)
      state.followItsEvent()
      return state.shouldWake() ? [.isHeld, .mustWake] : .isHeld
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
    var handler = handler.withLock { $0 } ?? .none
    var batch = rest
    while true {
      switch state.withLock({ $0.nextStep(&batch, as: Element.self) }) {
      case .handle(let count):
        for _ in 0..<count {
          if closed.load(ordering: .relaxed) { break }
          await handle(batch.takeFirst(as: Element.self), handler)
        }
      case .handleInside(let report): await handle(batch.takeFirst(as: Element.self), handler, inside: report)
      case .handleAwaited(let delivery, let report):
        await handle(batch.takeFirst(as: Element.self), handler, for: delivery, inside: report)
      case .tellMissed(let gap):
        if let missed = handler.missed { await handle(gap, missed) }
      case .drop: batch.removeAll(as: Element.self)
      case .leave: return start(with: batch)
      case .end(let actions):
        batch.free()
        // A drain returns after what the handler captured has been released.
        handler = .none
        for action in actions { action() }
        return
      }
    }
  }

  private func handle(_ element: Element, _ handler: Handler, inside report: SelfReport? = nil) async {
    let run = nextRun(conversions.eventType(element), cause: nil, inside: report)
    do {
      try await call(handler, with: element, run)
    } catch {
      note(error, of: run) { element as? any EventBus.Event }
    }
    endIfOnce()
  }

  private func handle(_ gap: EventQueue.Gap, _ missed: @Sendable (Int) async throws -> Void) async {
    let run = nextRun(conversions.missedType, cause: nil, inside: gap.report)
    do {
      begin(run)
      defer { end(run) }
      try await HandlerContext.$current.withValue(HandlerContext(run: run, work: nil)) { try await missed(gap.count) }
    } catch {
      note(error, of: run) { nil }
    }
  }

  /// Notes the error of a run for which no post waits.
  private func note(_ error: any Error, of run: HandlerRun, event: () -> (any EventBus.Event)?) {
    switch error {
    case is HandlerRun.Cancelled: break
    case is HandlerRun.OwnerIsGone: endSubscription?()
    default: report(error, of: run, event())
    }
  }

  /// Ends a subscription to one event, whose run has ended.
  private func endIfOnce() { if isOnce { endSubscription?() } }

  private func handle(
    _ element: Element, _ handler: Handler, for delivery: AwaitedDelivery, inside report: SelfReport?
  ) async {
    switch delivery.post.begin(delivery) {
    case .withdrawn: return state.withLock { $0.followItsEvent() }
    case .begun: break
    case .begunCancelled:
      state.withLock { $0.noteCancelledTask() }
      withUnsafeCurrentTask { $0?.cancel() }
    }
    let run = nextRun(conversions.eventType(element), cause: delivery.post, inside: report)
    do {
      try await call(handler, with: element, run)
      // First: when the poster goes on, the subscription has ended.
      endIfOnce()
      delivery.post.end(delivery, .delivered)
    } catch is HandlerRun.Cancelled {
      delivery.post.end(delivery, .cancelled)
    } catch is HandlerRun.OwnerIsGone {
      delivery.post.end(delivery, .cancelled)
      endSubscription?()
    } catch {
      endIfOnce()
      let isFailure = error.isFailure
      let isInTime = delivery.post.isOpen(delivery)
      // Report first: the poster may go on, and end the process, as soon as the delivery has ended.
      if isFailure, !delivery.post.reportsErrors {
        self.report(error, of: run, element as? any EventBus.Event, hasRecipient: isInTime)
      }
      // After the deadline the post no longer takes the error.
      if !delivery.post.end(delivery, .threw(error)), isFailure, delivery.post.reportsErrors {
        self.report(error, of: run, element as? any EventBus.Event)
      }
    }
  }

  private func report(
    _ error: any Error, of run: HandlerRun, _ event: (any EventBus.Event)?, hasRecipient: Bool = false
  ) {
    bus?.core.reportFailure(
      of: subscriber, error, with: event, in: run.eventType, inside: run.report, hasRecipient: hasRecipient)
  }

  private func nextRun(_ type: (any EventBus.Event.Type)?, cause: AwaitedPost?, inside report: SelfReport?)
    -> HandlerRun
  {
    HandlerRun(
      receiver: self, number: runs.load(ordering: .relaxed) + 1, eventType: type, cause: cause,
      report: report ?? type.flatMap { SelfReport($0) })
  }

  // Without a closure around the call, which would cost a quarter of an event.
  private func call(_ handler: Handler, with element: Element, _ run: HandlerRun) async throws {
    begin(run)
    defer { end(run) }
    try await HandlerContext.$current.withValue(HandlerContext(run: run, work: nil)) { try await handler.call(element) }
  }

  private func begin(_ run: HandlerRun) {
    runs.store(run.number, ordering: .releasing)
    if run.report != nil { SelfReport.runsUnderWay.add(1, ordering: .relaxed) }
  }

  private func end(_ run: HandlerRun) {
    if run.report != nil { SelfReport.runsUnderWay.subtract(1, ordering: .relaxed) }
    runs.store(run.number + 1, ordering: .releasing)
  }
}

// MARK: - The interface to the bus

extension Mailbox: AnyMailbox {
  var isClosed: Bool { closed.load(ordering: .acquiring) }

  var runUnderWay: UInt64? {
    let number = runs.load(ordering: .acquiring)
    return number & 1 == 1 ? number : nil
  }

  func withdraw(_ delivery: AwaitedDelivery) {
    // The removed event is released after the lock: its deinitializer may call the bus.
    _ = state.withLock { state -> Element? in
      let removed = state.queue.withdraw(delivery, as: Element.self)
      if removed != nil || state.isAbout(delivery) { state.followItsEvent() }
      return removed
    }
  }

  func cancelRun(of delivery: AwaitedDelivery) { state.withLock { $0.cancelTask(of: delivery) }?.cancel() }

  func close() {
    closed.store(true, ordering: .releasing)
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
