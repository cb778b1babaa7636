/// What the bus knows of one subscription: who it is, where it stands, and what of it still runs.
///
/// Kept by the store in which its handler stands until it is cancelled, and by the ``Subscription``. Its lock is a leaf:
/// nothing is called while it is held.
final class Registration: @unchecked Sendable {
  private struct State {
    var isCancelled = false
    /// Posts that wait and that are in the handler; of others the store knows.
    var running = 0
    var idleActions: [@Sendable () -> Void] = []
    /// Ends what stands behind the handler, if that is a sequence.
    var onCancel: (@Sendable () -> Void)?
  }

  /// Rises with each subscription of a bus. Set once, under the bus's lock, before any post can reach the handler.
  var id: UInt64 = 0
  /// Where the handler stands; nil for wildcards, which stand in every store. Set together with the identifier; the core
  /// keeps it.
  unowned(unsafe) var store: HandlerStore?
  let subscriber: Subscriber
  let priority: Priority
  /// What stands behind the handler, if it is asynchronous.
  let mailbox: (any AsynchronousReceiver)?
  /// A ``ThrowingHandler``, for posts that want to know what it throws; nil where the handler cannot throw.
  let throwing: AnyObject?
  /// The subject's address, by which it is found, also when it is gone.
  let subjectAddress: UnsafeRawPointer?
  private let weakSubject: WeakReference?
  private let owner: WeakReference?
  let bus: WeakBus
  private let core: BusCore
  private let state = Guarded(State())

  init(
    _ details: SubscriptionDetails, bus: EventBus, mailbox: (any AsynchronousReceiver)? = nil,
    throwing: AnyObject? = nil
  ) {
    subscriber = details.subscriber
    priority = details.priority
    self.mailbox = mailbox
    self.throwing = throwing
    subjectAddress = details.subject.map { UnsafeRawPointer(Unmanaged.passUnretained($0 as AnyObject).toOpaque()) }
    weakSubject = details.subject.map(WeakReference.init)
    owner = details.owner.map(WeakReference.init)
    self.bus = bus.weakly
    core = bus.core
  }

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
    let (isFirst, onCancel) = state.withLock { state in
      defer { (state.isCancelled, state.onCancel) = (true, nil) }
      return (!state.isCancelled, state.onCancel)
    }
    guard isFirst else { return }
    core.remove(self)
    mailbox?.close()
    onCancel?()
  }

  /// Calls once no handler runs; at once if that is so. The subscription has been cancelled.
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
