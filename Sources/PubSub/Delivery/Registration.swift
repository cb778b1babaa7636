/// What the bus knows of one subscription: who it is, whether it still stands, and how many of its handlers run.
///
/// Shared by the bus, which delivers to it, and the ``Subscription``, which cancels it. Its lock is a leaf: nothing is
/// called while it is held.
final class Registration: Sendable {
  private struct State {
    var isCancelled = false
    var running = 0
    var drainers: [UnsafeContinuation<Void, Never>] = []
    /// Ends what stands behind the handler: a mailbox, a sequence.
    var onCancel: (@Sendable () -> Void)?
  }

  let id: UInt64
  let subscriber: Subscriber
  let priority: Priority
  /// Holds its object weakly, so that a freed subject never matches a new object at the same address.
  private let subject: WeakReference?
  private let owner: WeakReference?
  private weak let bus: EventBus?
  private let state = Guarded(State())

  init(
    id: UInt64, subscriber: Subscriber, priority: Priority, subject: (any AnyObject & Sendable)?,
    owner: (any AnyObject & Sendable)?, bus: EventBus
  ) {
    self.id = id
    self.subscriber = subscriber
    self.priority = priority
    self.subject = subject.map(WeakReference.init)
    self.owner = owner.map(WeakReference.init)
    self.bus = bus
  }

  /// Whether it asked for events of this subject, or of any.
  func accepts(_ poster: (any AnyObject & Sendable)?) -> Bool {
    guard let subject else { return true }
    guard let poster, let wanted = subject.object else { return false }
    return wanted === poster
  }

  /// Whether its owner or its subject has been released: it will never be delivered to again.
  var isExpired: Bool { (owner.map { $0.object == nil } ?? false) || (subject.map { $0.object == nil } ?? false) }

  /// Counts a handler in, unless the subscription was cancelled.
  func beginDelivery() -> Bool {
    state.withLock { state in
      if state.isCancelled { return false }
      state.running += 1
      return true
    }
  }

  /// Counts a handler out, and lets go on who waited for the last one.
  func endDelivery() {
    let drainers = state.withLock { state in
      state.running -= 1
      guard state.running == 0 else { return [UnsafeContinuation<Void, Never>]() }
      defer { state.drainers = [] }
      return state.drainers
    }
    for drainer in drainers { drainer.resume() }
  }

  /// Sets what is ended with the subscription; done before anybody else knows of the registration.
  func whenCancelled(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.onCancel = action } }

  func cancel() {
    let (isFirst, onCancel) = state.withLock { state in
      defer { (state.isCancelled, state.onCancel) = (true, nil) }
      return (!state.isCancelled, state.onCancel)
    }
    guard isFirst else { return }
    onCancel?()
    bus?.remove(self)
  }

  /// Waits until no handler runs; inside a handler for 30 seconds at most, and never for that handler itself.
  func drain() async {
    let chain = HandlerChain.current
    if chain.contains(where: { $0.registration === self && !$0.hasEnded }) { return }
    guard let waiting = chain.first(where: { !$0.hasEnded }), let bus else { return await idle() }
    let outcome = OneShot()
    bus.tasks.start {
      await self.idle()
      outcome.settle(true)
    }
    let timer = bus.tasks.start {
      guard (try? await bus.clock.sleep(for: HandlerChain.waitBudget)) != nil else { return }
      outcome.settle(false)
    }
    let wasDrained = await outcome.value
    timer.cancel()
    if wasDrained { return }
    bus.reportFailure(of: waiting.registration, DrainTimeout(subscriber: subscriber), in: waiting.eventName)
  }

  private func idle() async {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      let isIdle = state.withLock { state in
        if state.running == 0 { return true }
        state.drainers.append(continuation)
        return false
      }
      if isIdle { continuation.resume() }
    }
  }
}
