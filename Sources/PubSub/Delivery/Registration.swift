internal import CPubSub
internal import Scheduling
internal import Synchronization

/// The record of a subscription that is not plain: its owner, its subject, its priority, its store, and its receiver.
///
/// The ``EventBus/Subscription`` keeps it alive, and so does each store entry of its handler until the subscription is
/// cancelled.
final class Registration: @unchecked Sendable {
  /// The owner and, in the direct build, its handler; it must be the first stored property, because C reads it there.
  let owned: OwnedCall
  /// The identifier, which rises with each subscription of a bus.
  ///
  /// It is set once, under the bus's lock, before a post can reach the handler.
  var id: UInt64 = 0
  /// The store that holds the handler; nil for a wildcard, whose handler is in every matching store.
  ///
  /// It is set together with the identifier. The core keeps the store alive.
  unowned(unsafe) var store: HandlerStore?
  /// Whether the handler is in every matching store.
  var isWildcard: Bool { store == nil }
  let core: BusCore
  let site: Site
  let priority: EventBus.Priority
  /// The subject.
  ///
  /// Its address stays the key in the store's tables, even after the subject has been released.
  private let subjectReference: ObjectReference?
  let subjectAddress: UnsafeRawPointer?
  /// The mailbox or the sequence buffer of the handler; nil for a synchronous handler.
  private let backing: Backing?
  /// Whether no store holds the handler any more.
  ///
  /// It is set last, so that a reader that finds it set can rely on the removal.
  private let isRemoved = Atomic(false)

  init(
    _ details: SubscriptionDetails, core: BusCore, mailbox: (any AnyMailbox)? = nil,
    whenCancelled: (@Sendable () -> Void)? = nil, owned: OwnedCall? = nil
  ) {
    self.owned = owned ?? details.owner.map { OwnedCall($0) } ?? OwnedCall()
    site = core.site(of: details.subscriber)
    priority = details.priority
    self.core = core
    backing = mailbox == nil && whenCancelled == nil ? nil : Backing(mailbox: mailbox, whenCancelled: whenCancelled)
    subjectReference = details.subject.map(ObjectReference.init)
    subjectAddress = details.subject.map { UnsafeRawPointer(Unmanaged.passUnretained($0 as AnyObject).toOpaque()) }
  }

  deinit {
    owned.end()
    subjectReference?.end()
  }

  var subscriber: EventBus.Subscriber { site.subscriber }

  /// The subject; nil if the subscription is to all subjects, or if the subject has been released.
  var subject: (any AnyObject & Sendable)? { subjectReference?.object }

  /// The mailbox of an asynchronous handler; nil once the subscription is cancelled and the handler no longer runs.
  var mailbox: (any AnyMailbox)? { backing?.mailbox }

  /// The owner; nil if there is none, or if it has been released.
  var owner: (any AnyObject & Sendable)? { owned.owner }

  /// Whether no new call of the handler can begin: the handler was removed, or the owner or the subject has been
  /// released.
  var hasEnded: Bool { isRemoved.load(ordering: .acquiring) || isExpired }

  /// Whether the subscription can end without being cancelled: it has an owner or a subject.
  var isTied: Bool { owned.hasOwner || subjectReference != nil }

  /// Whether the owner or the subject has been released, so that no event will be delivered any more.
  var isExpired: Bool {
    (owned.hasOwner && owned.owner == nil) || (subjectReference.map { $0.object == nil } ?? false)
  }

  /// Whether the owner or the subject has been released, for a caller that holds the bus's lock.
  ///
  /// The check retains the owner and the subject. `released` releases them after the lock: that may be the last
  /// release, and a deinitializer may call the bus.
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

  /// Ends the subscription when a post finds that the owner has been released.
  ///
  /// It also notes in the thread's record that this handler has not received the event.
  func ownerIsGone() {
    cancel()
    Posting.noteUnheard()
  }

  /// Removes the handler from every store; a second call may run while the first one is under way.
  func cancel() {
    if isRemoved.load(ordering: .acquiring) { return }
    core.remove(self)
    backing?.end()
    isRemoved.store(true, ordering: .releasing)
  }

  /// Calls the action when no handler of the cancelled subscription runs; immediately if none runs now.
  func whenIdle(_ action: @escaping @Sendable () -> Void) {
    if let mailbox { return mailbox.whenIdle(action) }
    core.whenIdle(self, action)
  }
}

/// The mailbox or the sequence buffer behind a handler.
///
/// Its lock is a leaf: while it is held, no other lock is taken and no code is called.
private final class Backing: Sendable {
  private struct State: Sendable {
    /// The mailbox; set to nil when the subscription ends, so that the registration does not keep what the handler
    /// captured.
    var mailbox: (any AnyMailbox)?
    /// The mailbox after the end of the subscription, while a run under way keeps it alive.
    weak var formerMailbox: (any AnyMailbox)?
    /// Ends the buffer of a sequence.
    var whenCancelled: (@Sendable () -> Void)?
  }

  private let state: Guarded<State>

  init(mailbox: (any AnyMailbox)?, whenCancelled: (@Sendable () -> Void)?) {
    state = Guarded(State(mailbox: mailbox, whenCancelled: whenCancelled))
  }

  var mailbox: (any AnyMailbox)? { state.withLock { $0.mailbox ?? $0.formerMailbox } }

  /// Closes the mailbox or ends the sequence buffer, and releases it.
  func end() {
    // The copy keeps both alive until they have been closed, and releases them without the lock.
    let former = state.withLock { state -> State in
      var former = state
      former.mailbox = state.mailbox ?? state.formerMailbox
      state.formerMailbox = former.mailbox
      (state.mailbox, state.whenCancelled) = (nil, nil)
      return former
    }
    former.mailbox?.close()
    former.whenCancelled?()
  }
}
