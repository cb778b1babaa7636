internal import Scheduling
internal import Synchronization

/// A mailbox, whatever the type of its events: its state, and whether its handler runs.
class AnyMailbox: Receiver, @unchecked Sendable {
  final let subscriber: EventBus.Subscriber
  /// The subscription, which ends when its owner has been released, or after its only event; set before any event is held.
  final weak var registration: Registration?
  fileprivate final let state: Guarded<MailboxState>
  /// The number of the present run, which is odd; an even number while no handler runs.
  ///
  /// Only the mailbox's task writes it, so it needs no read-modify-write.
  fileprivate final let runs = Atomic<UInt64>(0)
  /// Whether the mailbox is closed; the task reads it before each event, so that cancelling works within a batch.
  fileprivate final let closed = Atomic(false)

  fileprivate init(_ subscriber: EventBus.Subscriber, _ state: MailboxState) {
    self.subscriber = subscriber
    self.state = Guarded(state)
  }

  override final var mailbox: AnyMailbox? { self }

  /// Whether the subscription has ended.
  final var isClosed: Bool { closed.load(ordering: .acquiring) }

  /// The number of the handler's run that is under way; nil if none is.
  final var runUnderWay: UInt64? {
    let number = runs.load(ordering: .acquiring)
    return number & 1 == 1 ? number : nil
  }

  /// Removes an event for which its post no longer waits.
  func withdraw(_ delivery: AwaitedDelivery) { preconditionFailure("a subclass must override this method") }

  /// Cancels the run that handles an event, if that run has not ended.
  final func cancelRun(of delivery: AwaitedDelivery) { state.withLock { $0.cancelTask(at: delivery) }?.cancel() }

  /// Calls the action when the mailbox has no task; immediately if that is the case now.
  final func whenIdle(_ action: @escaping @Sendable () -> Void) {
    if !state.withLock({ $0.keepUntilIdle(action) }) { action() }
  }
}

/// The queue of one asynchronous handler, which is called with one event at a time, in the order of posting.
///
/// A mailbox starts a task for each burst of events, and has no task while it is idle. The task inherits nothing from
/// the poster that woke the mailbox: it has the priority of the code that subscribed, and no task-local value.
///
/// `Element` is an event type or `any EventBus.Event`.
final class Mailbox<Element: Sendable>: AnyMailbox, @unchecked Sendable {
  /// What a mailbox calls, in a struct: a closure that is itself the value of a generic type costs a wrapper each time
  /// that it is read.
  struct Handler: Sendable {
    let call: @Sendable (Element) async throws -> Void
    /// Called with the number of lost events; nil if the loss is ignored.
    let missed: (@Sendable (Int) async throws -> Void)?

    /// What stands for the handler of a closed mailbox: the event is not received.
    static var cancelled: Self { Self(call: { _ in throw HandlerRun.NotCalled() }, missed: nil) }
  }

  /// The type of all events; nil if they may have different types.
  private let eventType: (any EventBus.Event.Type)?
  /// Makes the element for the event of a store at an address.
  private let element: @Sendable (UnsafeRawPointer, HandlerStore) -> Element

  /// The handler; nil once the mailbox is closed.
  ///
  /// Tasks that the handler started, and posts under way, may keep the mailbox much longer than the subscription lasts.
  /// They must not keep what the handler captured.
  private let handler: Guarded<Handler?>
  private let tasks: TaskStarter
  /// The priority of the code that subscribed.
  private let priority: TaskPriority
  /// The `Application.shared` of the code that subscribed, in a test (``SharedObject``); weak, as it may keep the bus alive.
  private let shared: WeakReference?
  private weak let bus: EventBus?
  private let isOnce: Bool

  init(
    _ subscriber: EventBus.Subscriber, bus: EventBus, _ buffering: EventBus.Buffering, once: Bool, _ handler: Handler,
    eventType: (any EventBus.Event.Type)?, element: @escaping @Sendable (UnsafeRawPointer, HandlerStore) -> Element
  ) {
    (self.bus, self.eventType, self.element) = (bus, eventType, element)
    self.handler = Guarded(handler)
    tasks = bus.tasks
    priority = Task.currentPriority
    shared = SharedObject.current.map(WeakReference.init)
    isOnce = once
    super.init(subscriber, MailboxState(buffering, once: once))
  }

  deinit {
    for events in state.withLock({ $0.close() }).events { events.release(as: Element.self) }
  }

  override func close() {
    let (events, marks, actions) = state.withLock { $0.close() }
    // Not before: a task that found it set, and the state open, would ask for its next step again and again.
    closed.store(true, ordering: .releasing)
    // After the state: a task that finds no handler is told to drop what is left, or to end, at its next step.
    _ = handler.withLock { $0.take() }
    for mark in marks { mark.purpose.delivery?.end(.cancelled) }
    for events in events { events.release(as: Element.self) }
    for action in actions { action() }
  }

  // MARK: Adding events

  override func hold(_ event: UnsafeRawPointer, of store: HandlerStore, _ purpose: HoldPurpose) -> HoldOutcome {
    let element = element(event, store)
    let insideReport = SelfReport.enclosing
    return state.withLock { state in
      if state.refusesEvents { return .nothing }
      state.queue.append(element, purpose, insideReport: insideReport)
      state.updateHasItsEvent()
      return state.reserveTask() ? [.isTaken, .mustWake] : .isTaken
    }
  }

  override func wake() {
    let (starts, dropped) = state.withLock { ($0.takeReservation(), $0.queue.takeDropped()) }
    dropped?.release(as: Element.self)
    if starts { startTask(with: RawEvents()) }
  }

  override func withdraw(_ delivery: AwaitedDelivery) {
    // What is removed is released after the lock: a deinitializer may call the bus.
    _ = state.withLock { state -> (Element, EventQueue.Mark)? in
      let removed = state.queue.withdraw(delivery, as: Element.self)
      // Now, not when the task reaches it: `postAndWait` returns after this, and a subscription with `once` must take the next event. A
      // task that has the event in hand does not begin with it (`AwaitedDelivery.begin`).
      if removed != nil || state.isAt(delivery) { state.updateHasItsEvent() }
      return removed
    }
  }
}

// MARK: - Handling events

extension Mailbox {
  private func startTask(with rest: RawEvents) {
    let number = state.withLock { $0.nextTask() }
    let task = tasks.start(priority: priority, seeing: shared?.object) { await self.handleEvents(rest) }
    let isCancelled = state.withLock { $0.keep(task, number: number) }
    if isCancelled { task.cancel() }
  }

  private func handleEvents(_ rest: RawEvents) async {
    var batch = rest
    var delivery: AwaitedDelivery?
    while true {
      // The delivery lives until after the lock: the release of its post may release the program's clock, and so run code.
      let step = withExtendedLifetime(delivery) { state.withLock { $0.nextStep(&batch, as: Element.self) } }
      delivery = nil
      // The task takes the handler for each step anew. So it holds nothing that the handler captured while it calls the
      // actions of a drain, or leaves the rest to another task.
      switch step {
      case .handle(let count):
        let handler = presentHandler
        for _ in 0..<count {
          if closed.load(ordering: .relaxed) { break }
          await handle(batch.takeFirst(as: Element.self), handler)
        }
      case .handleMarked(let mark):
        delivery = mark.purpose.delivery
        await handle(batch.takeFirst(as: Element.self), presentHandler, for: delivery, insideReport: mark.insideReport)
      case .tellMissed(let gap):
        if let missed = presentHandler.missed { await tell(gap, missed) }
      case .drop: batch.removeAll(as: Element.self)
      case .leave: return startTask(with: batch)
      case .end(let actions):
        batch.free()
        for action in actions { action() }
        return
      }
    }
  }

  private var presentHandler: Handler { handler.withLock { $0 } ?? .cancelled }

  /// Calls the handler with an event, unless its post has stopped waiting for it.
  private func handle(
    _ element: Element, _ handler: Handler, for delivery: AwaitedDelivery? = nil, insideReport: SelfReport? = nil
  ) async {
    if let delivery, !begin(delivery) { return }
    let type = eventType ?? (element as? any EventBus.Event).map { Swift.type(of: $0) }
    let run = HandlerRun(mailbox: self, number: nextRun, eventType: type, insideReport: insideReport)
    do {
      if let wrapper = delivery?.wrapper {
        try await wrapper.callHandler { try await call(handler, with: element, run) }
      } else {
        try await call(handler, with: element, run)
      }
      // Before the delivery ends: when the poster goes on, the subscription has ended.
      if isOnce { registration?.cancel() }
      delivery?.end(.delivered)
    } catch {
      if isOnce { registration?.cancel() }
      finish(run, throwing: error, element as? any EventBus.Event, for: delivery)
    }
  }

  /// Returns false if the post no longer waits for the delivery.
  private func begin(_ delivery: AwaitedDelivery) -> Bool {
    switch delivery.wait.begin(delivery) {
    case .begun: return true
    case .begunCancelled:
      state.withLock { $0.isTaskCancelled = true }
      withUnsafeCurrentTask { $0?.cancel() }
      return true
    case .withdrawn:
      state.withLock { $0.updateHasItsEvent() }
      return false
    }
  }

  private func tell(_ gap: EventQueue.Gap, _ missed: @Sendable (Int) async throws -> Void) async {
    let run = HandlerRun(mailbox: self, number: nextRun, eventType: eventType, insideReport: gap.insideReport)
    do {
      noteBegin(of: run)
      defer { noteEnd(of: run) }
      try await HandlerContext.$current.withValue(HandlerContext(run: run, work: nil)) { try await missed(gap.count) }
    } catch {
      finish(run, throwing: error, nil, for: nil)
    }
  }

  /// Ends the delivery of a run that threw, and reports the error if it is a failure.
  private func finish(
    _ run: HandlerRun, throwing error: any Error, _ event: (any EventBus.Event)?, for delivery: AwaitedDelivery?
  ) {
    if error is HandlerRun.NotCalled {
      delivery?.end(.cancelled)
      registration?.cancel()
      return
    }
    let isFailure = error.isFailure
    let postFailure = { [self] (hasRecipient: Bool) in
      guard isFailure else { return }
      bus?.core.reportFailure(
        error, of: subscriber, with: event, in: run.eventType, inside: run.insideReport, hasRecipient: hasRecipient)
    }
    guard let delivery else { return postFailure(false) }
    delivery.wait.end(delivery, .threw(error)) { isInTime in
      // `MeasuredPost.noteEnds` posts it on the poster's actor.
      let posterReports = isInTime && delivery.wait.errorsAreInLedger
      // In time, it has a recipient: the report of `postAndWait`.
      if !posterReports { postFailure(isInTime) }
    }
  }

  private var nextRun: UInt64 { runs.load(ordering: .relaxed) + 1 }

  // Not through a function shared with ``tell``: its closure argument would cost a quarter of an event.
  private func call(_ handler: Handler, with element: Element, _ run: HandlerRun) async throws {
    noteBegin(of: run)
    defer { noteEnd(of: run) }
    try await HandlerContext.$current.withValue(HandlerContext(run: run, work: nil)) { try await handler.call(element) }
  }

  private func noteBegin(of run: HandlerRun) {
    runs.store(run.number, ordering: .releasing)
    if run.insideReport != nil { SelfReport.runsUnderWay.add(1, ordering: .relaxed) }
  }

  private func noteEnd(of run: HandlerRun) {
    if run.insideReport != nil { SelfReport.runsUnderWay.subtract(1, ordering: .relaxed) }
    runs.store(run.number + 1, ordering: .releasing)
  }
}
