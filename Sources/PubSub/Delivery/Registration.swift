internal import Synchronization

/// What the bus knows of a subscription that is not plain: what it was given, where it stands, and what stands behind it.
///
/// Kept by the stores in which its handler stands until it is cancelled, and by the ``Subscription``.
final class Registration: @unchecked Sendable {
  /// What it is tied to and may outlive; few are.
  private struct Ties {
    let subjectAddress: UnsafeRawPointer?
    let subject: WeakReference?
    let owner: WeakReference?
  }

  /// Rises with each subscription of a bus; set once, under the bus's lock, before any post can reach the handler.
  var id: UInt64 = 0
  /// Where the handler stands; nil for wildcards, which stand in every store.
  ///
  /// Set together with the identifier; the core keeps it alive.
  unowned(unsafe) var store: HandlerStore?
  let subscriber: Subscriber
  let priority: Priority
  /// Whether its owner's end ends it, and not that of the ``Subscription``.
  let endsWithOwner: Bool
  let core: BusCore
  /// What stands behind the handler, if it is more than a closure; set before anybody else knows of the registration.
  private var backing: Backing?
  private let ties: Ties?
  /// Whether the handler stands nowhere any more: set last, so that a reader that finds it set may rely on that.
  private let isRemoved = Atomic(false)

  init(
    _ details: SubscriptionDetails, core: BusCore, mailbox: (any AsynchronousReceiver)? = nil,
    alternative: (any AnyObject & Sendable)? = nil
  ) {
    subscriber = details.subscriber
    priority = details.priority
    endsWithOwner = details.owner != nil
    self.core = core
    if mailbox != nil || alternative != nil { backing = Backing(mailbox: mailbox, alternative: alternative) }
    let isTied = details.subject != nil || details.owner != nil
    ties =
      isTied
      ? Ties(
        subjectAddress: details.subject.map { UnsafeRawPointer(Unmanaged.passUnretained($0 as AnyObject).toOpaque()) },
        subject: details.subject.map(WeakReference.init), owner: details.owner.map(WeakReference.init)) : nil
  }

  /// The subject's address, by which it is found, also when it is gone.
  var subjectAddress: UnsafeRawPointer? { ties?.subjectAddress }

  /// The one object whose posts it wants; nil for all, or if that is gone.
  var subject: (any AnyObject & Sendable)? { ties?.subject?.object }

  /// What stands behind the handler, if it is asynchronous; nil once it is cancelled and no handler of it runs.
  var mailbox: (any AsynchronousReceiver)? { backing?.mailbox }

  /// What posts that wait call in the place of the handler that stands in the store: a ``ThrowingHandler``, as they want to
  /// know what it throws, or a ``KeepingHandler``; nil where there is nothing else.
  var alternative: (any AnyObject & Sendable)? { backing?.alternative }

  /// Whether it asked for events of this subject, or of any.
  func accepts(_ poster: (any AnyObject & Sendable)?) -> Bool {
    guard let reference = ties?.subject else { return true }
    guard let poster, let wanted = reference.object else { return false }
    return wanted === poster
  }

  /// The object whose end ends it; nil if there is none, or it is gone.
  var owner: (any AnyObject & Sendable)? { ties?.owner?.object }

  /// Whether its handler is called no more: it was taken out, or what it is tied to is gone.
  var hasEnded: Bool { isRemoved.load(ordering: .acquiring) || isExpired }

  /// Whether it can end without being cancelled.
  var isTied: Bool { ties != nil }

  /// Whether its owner or its subject has been released: it will never be delivered to again.
  var isExpired: Bool {
    guard let ties else { return false }
    return (ties.owner.map { $0.object == nil } ?? false) || (ties.subject.map { $0.object == nil } ?? false)
  }

  /// The same for a caller that holds the bus's lock.
  ///
  /// What was looked at is let go of without the lock: that may be its end, and its deinitialiser may call the bus.
  func isExpired(keeping released: inout Released) -> Bool {
    guard let ties else { return false }
    if let owner = ties.owner {
      guard let object = owner.object else { return true }
      released.keep(object)
    }
    if let subject = ties.subject {
      guard let object = subject.object else { return true }
      released.keep(object)
    }
    return false
  }

  /// Sets what is ended with the subscription; done before anybody else knows of the registration.
  func whenCancelled(_ action: @escaping @Sendable () -> Void) {
    let backing = backing ?? Backing(mailbox: nil, alternative: nil)
    backing.whenCancelled(action)
    self.backing = backing
  }

  /// Takes the handler out of every place; a second call may come while the first one is under way.
  func cancel() {
    if isRemoved.load(ordering: .acquiring) { return }
    core.remove(self)
    backing?.end()
    isRemoved.store(true, ordering: .releasing)
  }

  /// Calls once no handler of the cancelled subscription runs; at once if that is so.
  func whenIdle(_ action: @escaping @Sendable () -> Void) {
    if let mailbox { return mailbox.whenIdle(action) }
    core.whenIdle(UInt32(truncatingIfNeeded: id), in: store, action)
  }
}

/// What stands behind a handler that is more than a closure.
///
/// Its lock is a leaf.
private final class Backing: Sendable {
  private struct State: Sendable {
    /// Let go of with the subscription, lest it keep what was captured.
    var mailbox: (any AsynchronousReceiver)?
    /// The same once it has been let go of: a run that is under way keeps it.
    weak var formerMailbox: (any AsynchronousReceiver)?
    var alternative: (any AnyObject & Sendable)?
    /// Ends the buffer of a sequence.
    var onCancel: (@Sendable () -> Void)?
  }

  private let state: Guarded<State>

  init(mailbox: (any AsynchronousReceiver)?, alternative: (any AnyObject & Sendable)?) {
    state = Guarded(State(mailbox: mailbox, alternative: alternative))
  }

  var mailbox: (any AsynchronousReceiver)? { state.withLock { $0.mailbox ?? $0.formerMailbox } }
  var alternative: (any AnyObject & Sendable)? { state.withLock { $0.alternative } }

  func whenCancelled(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.onCancel = action } }

  /// Closes what there is, and lets go of it.
  func end() {
    // What it lets go of is released without the lock, and closed before that.
    let former = state.withLock { state -> State in
      var former = state
      former.mailbox = state.mailbox ?? state.formerMailbox
      state.formerMailbox = former.mailbox
      (state.mailbox, state.alternative, state.onCancel) = (nil, nil, nil)
      return former
    }
    former.mailbox?.close()
    former.onCancel?()
  }
}
