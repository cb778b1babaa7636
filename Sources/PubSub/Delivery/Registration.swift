/// What the bus knows of one subscription: who it is, whether it still stands, and how many of its handlers run.
///
/// Shared by the bus, which delivers to it, and the ``Subscription``, which cancels it. Its lock is a leaf: nothing is
/// called while it is held.
final class Registration: Sendable {
  private struct State {
    var isCancelled = false
    var running = 0
    var idleActions: [@Sendable () -> Void] = []
    /// Ends what stands behind the handler, if that is a sequence.
    var onCancel: (@Sendable () -> Void)?
  }

  let id: UInt64
  let subscriber: Subscriber
  let priority: Priority
  /// What stands behind the handler, if it is asynchronous.
  let mailbox: (any AsynchronousReceiver)?
  /// Holds its object weakly, so that a freed subject never matches a new object at the same address.
  private let subject: WeakReference?
  private let owner: WeakReference?
  weak let bus: EventBus?
  private let state = Guarded(State())

  init(
    id: UInt64, subscriber: Subscriber, priority: Priority, subject: (any AnyObject & Sendable)?,
    owner: (any AnyObject & Sendable)?, mailbox: (any AsynchronousReceiver)?, bus: EventBus
  ) {
    self.id = id
    self.subscriber = subscriber
    self.priority = priority
    self.subject = subject.map(WeakReference.init)
    self.owner = owner.map(WeakReference.init)
    self.mailbox = mailbox
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
    let actions = state.withLock { state in
      state.running -= 1
      guard state.running == 0 else { return [@Sendable () -> Void]() }
      defer { state.idleActions = [] }
      return state.idleActions
    }
    for action in actions { action() }
  }

  /// Sets what is ended with the subscription; done before anybody else knows of the registration.
  func whenCancelled(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.onCancel = action } }

  func cancel() {
    let (isFirst, onCancel) = state.withLock { state in
      defer { (state.isCancelled, state.onCancel) = (true, nil) }
      return (!state.isCancelled, state.onCancel)
    }
    guard isFirst else { return }
    mailbox?.close()
    onCancel?()
    bus?.remove(self)
  }

  /// Calls once no handler runs; at once if that is so.
  func whenIdle(_ action: @escaping @Sendable () -> Void) {
    if let mailbox { return mailbox.whenIdle(action) }
    let isIdle = state.withLock { state in
      if state.running > 0 { state.idleActions.append(action) }
      return state.running == 0
    }
    if isIdle { action() }
  }
}
