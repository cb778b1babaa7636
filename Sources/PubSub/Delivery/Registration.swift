internal import CPubSub
internal import Synchronization

/// What the bus knows of a subscription that is not plain: what it was given, where it stands, and what stands behind it.
///
/// Kept by the places in which its handler stands until it is cancelled, and by the ``Subscription``.
final class Registration: @unchecked Sendable {
  /// The owner, and with it the handler, where C calls that; the first stored property, as C reads it.
  let owned: OwnedCall
  /// Rises with each subscription of a bus; set once, under the bus's lock, before any post can reach the handler.
  var id: UInt64 = 0
  /// Where the handler stands; nil for wildcards, which stand in every store.
  ///
  /// Set together with the identifier; the core keeps it alive.
  unowned(unsafe) var store: HandlerStore?
  let core: BusCore
  let site: Site
  let priority: Priority
  /// The subject and its address, by which the subject is found also when it is gone.
  private let subjectReference: ObjectReference?
  let subjectAddress: UnsafeRawPointer?
  /// What stands behind the handler, if it is more than a closure.
  private let backing: Backing?
  /// Whether the handler stands nowhere any more: set last, so that a reader that finds it set may rely on that.
  private let isRemoved = Atomic(false)

  init(
    _ details: SubscriptionDetails, core: BusCore, mailbox: (any AsynchronousReceiver)? = nil,
    whenCancelled: (@Sendable () -> Void)? = nil, owned: OwnedCall? = nil
  ) {
    self.owned = owned ?? details.owner.map { OwnedCall($0) } ?? OwnedCall()
    site = core.site(of: details.subscriber)
    priority = details.priority
    self.core = core
    backing = mailbox == nil && whenCancelled == nil ? nil : Backing(mailbox: mailbox, onCancel: whenCancelled)
    subjectReference = details.subject.map(ObjectReference.init)
    subjectAddress = details.subject.map { UnsafeRawPointer(Unmanaged.passUnretained($0 as AnyObject).toOpaque()) }
  }

  deinit {
    owned.end()
    subjectReference?.end()
  }

  var subscriber: Subscriber { site.subscriber }

  /// The one object whose posts it wants; nil for all, or if that is gone.
  var subject: (any AnyObject & Sendable)? { subjectReference?.object }

  /// What stands behind the handler, if it is asynchronous; nil once it is cancelled and no handler of it runs.
  var mailbox: (any AsynchronousReceiver)? { backing?.mailbox }

  /// Whether it asked for events of this subject, or of any.
  func accepts(_ poster: (any AnyObject & Sendable)?) -> Bool {
    guard let subjectReference else { return true }
    guard let poster, let wanted = subjectReference.object else { return false }
    return wanted === poster
  }

  /// The object whose end ends it; nil if there is none, or it is gone.
  var owner: (any AnyObject & Sendable)? { owned.owner }

  /// Whether its owner's end ends it, and not that of the ``Subscription``.
  var endsWithOwner: Bool { owned.hasOwner }

  /// Whether its handler is called no more: it was taken out, or what it is tied to is gone.
  var hasEnded: Bool { isRemoved.load(ordering: .acquiring) || isExpired }

  /// Whether it can end without being cancelled.
  var isTied: Bool { owned.hasOwner || subjectReference != nil }

  /// Whether its owner or its subject has been released: it will never be delivered to again.
  var isExpired: Bool {
    (owned.hasOwner && owned.owner == nil) || (subjectReference.map { $0.object == nil } ?? false)
  }

  /// The same for a caller that holds the bus's lock.
  ///
  /// What was looked at is let go of without the lock: that may be its end, and its deinitialiser may call the bus.
  func isExpired(keeping released: inout Released) -> Bool {
    if owned.hasOwner {
      guard let object = owned.owner else { return true }
      released.keep(object)
    }
    if let subjectReference {
      guard let object = subjectReference.object else { return true }
      released.keep(object)
    }
    return false
  }

  /// A post has found the owner gone; it counts the handler as one that received nothing.
  func ownerIsGone() {
    cancel()
    let record = pubsub_record_of_thread()
    record.pointee.unheard = pubsub_depth(record) - 1
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
    core.whenIdle(in: store, action)
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
    /// Ends the buffer of a sequence.
    var onCancel: (@Sendable () -> Void)?
  }

  private let state: Guarded<State>

  init(mailbox: (any AsynchronousReceiver)?, onCancel: (@Sendable () -> Void)?) {
    state = Guarded(State(mailbox: mailbox, onCancel: onCancel))
  }

  var mailbox: (any AsynchronousReceiver)? { state.withLock { $0.mailbox ?? $0.formerMailbox } }

  /// Closes what there is, and lets go of it.
  func end() {
    // What it lets go of is released without the lock, and closed before that.
    let former = state.withLock { state -> State in
      var former = state
      former.mailbox = state.mailbox ?? state.formerMailbox
      state.formerMailbox = former.mailbox
      (state.mailbox, state.onCancel) = (nil, nil)
      return former
    }
    former.mailbox?.close()
    former.onCancel?()
  }
}
