/// What the bus knows of one subscription: who it is, where it stands, and what of it still runs.
///
/// Kept by the store in which its handler stands until it is cancelled, and by the ``Subscription``. Its lock is a leaf:
/// nothing is called while it is held.
final class Registration: @unchecked Sendable {
  private struct State: Sendable {
    var isCancelled = false
    /// Posts that wait and that are in the handler; of others the store knows.
    var running = 0
    var idleActions: [@Sendable () -> Void] = []
    /// What stands behind the handler, if it is asynchronous; let go of with the subscription, lest it keep what was captured.
    var mailbox: (any AsynchronousReceiver)?
    /// The same once it has been let go of: a run that is under way keeps it.
    weak var formerMailbox: (any AsynchronousReceiver)?
    /// A ``ThrowingHandler``, for posts that want to know what it throws; nil where the handler cannot throw.
    var throwing: (any AnyObject & Sendable)?
    /// Ends what stands behind the handler, if that is a sequence.
    var onCancel: (@Sendable () -> Void)?
  }

  /// Rises with each subscription of a bus; set once, under the bus's lock, before any post can reach the handler.
  var id: UInt64 = 0
  /// Where the handler stands; nil for wildcards, which stand in every store.
  ///
  /// Set together with the identifier; the core keeps it alive.
  unowned(unsafe) var store: HandlerStore?
  let subscriber: Subscriber
  let priority: Priority
  /// The subject's address, by which it is found, also when it is gone.
  let subjectAddress: UnsafeRawPointer?
  private let weakSubject: WeakReference?
  private let owner: WeakReference?
  let bus: WeakBus
  private let core: BusCore
  private let state: Guarded<State>

  init(
    _ details: SubscriptionDetails, bus: EventBus, mailbox: (any AsynchronousReceiver)? = nil,
    throwing: (any AnyObject & Sendable)? = nil
  ) {
    subscriber = details.subscriber
    priority = details.priority
    state = Guarded(State(mailbox: mailbox, throwing: throwing))
    subjectAddress = details.subject.map { UnsafeRawPointer(Unmanaged.passUnretained($0 as AnyObject).toOpaque()) }
    weakSubject = details.subject.map(WeakReference.init)
    owner = details.owner.map(WeakReference.init)
    self.bus = bus.weakly
    core = bus.core
  }

  /// What stands behind the handler, if it is asynchronous; nil once it is cancelled and no handler of it runs.
  var mailbox: (any AsynchronousReceiver)? { state.withLock { $0.mailbox ?? $0.formerMailbox } }

  /// A ``ThrowingHandler``, for posts that want to know what it throws; nil where the handler cannot throw.
  var throwing: (any AnyObject & Sendable)? { state.withLock { $0.throwing } }

  /// The one object whose posts it wants; nil for all, or if that is gone.
  var subject: (any AnyObject & Sendable)? { weakSubject?.object }

  /// Whether it asked for events of this subject, or of any.
  func accepts(_ poster: (any AnyObject & Sendable)?) -> Bool {
    guard let weakSubject else { return true }
    guard let poster, let wanted = weakSubject.object else { return false }
    return wanted === poster
  }

  /// Whether its owner or its subject has been released: it will never be delivered to again.
  var isExpired: Bool {
    (owner.map { $0.object == nil } ?? false) || (weakSubject.map { $0.object == nil } ?? false)
  }

  /// Counts a handler in that a waiting post calls, unless the subscription was cancelled.
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
    // What it lets go of is released without the lock, and closed before that.
    let former = state.withLock { state -> State? in
      if state.isCancelled { return nil }
      let former = state
      state.isCancelled = true
      state.formerMailbox = state.mailbox
      (state.mailbox, state.throwing, state.onCancel) = (nil, nil, nil)
      return former
    }
    guard let former else { return }
    core.remove(self)
    former.mailbox?.close()
    former.onCancel?()
  }

  /// Calls once no handler of the cancelled subscription runs; at once if that is so.
  func whenIdle(_ action: @escaping @Sendable () -> Void) {
    if let mailbox { return mailbox.whenIdle(action) }
    core.whenUnread(self) {
      let isIdle = self.state.withLock { state in
        if state.running > 0 { state.idleActions.append(action) }
        return state.running == 0
      }
      if isIdle { action() }
    }
  }
}

/// A bus that subscriptions and mailboxes may outlive.
final class WeakBus: Sendable {
  weak let bus: EventBus?
  init(_ bus: EventBus) { self.bus = bus }
}
