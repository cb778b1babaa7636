internal import CPubSub
internal import Scheduling
internal import Synchronization

/// What the bus knows of a subscription that is not plain: its owner, its subject, its priority, its store, and its receiver.
///
/// The ``EventBus/Subscription`` keeps it alive, and so does each store entry of its handler.
final class Registration: @unchecked Sendable {
  /// The owner; nil if the subscription has none.
  ///
  /// It and the next property are the first stored ones, because in the direct build C reads them there (`pubsub_owned`).
  private let ownerReference: ObjectReference?
  /// In the direct build, the closure that takes the owner; without an owner a placeholder.
  private let ownedClosure: pubsub_handler
  /// The identifier, which rises with each subscription of a bus; set, under the bus's lock, before a post can reach
  /// the handler.
  var id: UInt64 = 0
  /// The store that holds the handler, set with the identifier; nil for a wildcard, whose handler is in every matching
  /// store.
  unowned(unsafe) var store: HandlerStore?
  /// Whether it is a wildcard for all event types; set before the handler is added to a store.
  var isToAll = false
  let core: BusCore
  let site: Site
  let priority: EventBus.Priority
  private let subjectReference: ObjectReference?
  /// The key of the subject in the store's tables, also after the subject has been released.
  let subjectAddress: UnsafeRawPointer?
  /// The receiver; nil for a synchronous handler.
  ///
  /// The registration may keep one that is closed: a mailbox then holds nothing that the handler captured, and the events in a
  /// buffer go with their consumer.
  private let receiver: Receiver?
  /// Whether no store holds the handler any more; set last, so that a reader that finds it set can rely on that.
  private let isRemoved = Atomic(false)

  init(
    _ details: SubscriptionDetails, core: BusCore, receiver: Receiver? = nil,
    calling ownedClosure: pubsub_handler = .init(function: pubsub_cancelled(), context: nil)
  ) {
    ownerReference = details.owner.map(ObjectReference.init)
    self.ownedClosure = ownedClosure
    site = core.site(of: details.subscriber)
    priority = details.priority
    self.core = core
    self.receiver = receiver
    subjectReference = details.subject.map(ObjectReference.init)
    subjectAddress = Posting.address(of: details.subject)
    receiver?.mailbox?.registration = self
  }

  deinit {
    ownerReference?.end()
    subjectReference?.end()
  }

  var subscriber: EventBus.Subscriber { site.subscriber }

  /// The subject; nil if the subscription is to all subjects, or if the subject has been released.
  var subject: (any AnyObject & Sendable)? { subjectReference?.object }

  /// The mailbox of an asynchronous handler.
  var mailbox: AnyMailbox? { receiver?.mailbox }

  /// The owner; nil if there is none, or if it has been released.
  var owner: (any AnyObject & Sendable)? { ownerReference?.object }

  /// Whether no new call of the handler can begin.
  var hasEnded: Bool { isRemoved.load(ordering: .acquiring) || isExpired }

  /// Whether the subscription can end without being cancelled: it has an owner or a subject.
  var isTied: Bool { ownerReference != nil || subjectReference != nil }

  /// Whether the owner or the subject has been released, so that no event will be delivered any more.
  var isExpired: Bool { isExpired { _ in } }

  /// Returns whether the owner or the subject has been released; passes those that still exist to `keep`.
  ///
  /// The look retains them. A caller that holds a lock keeps them until after it, because this reference may become the last one.
  func isExpired(releasingLater keep: (any AnyObject & Sendable) -> Void) -> Bool {
    func isGone(_ reference: ObjectReference?) -> Bool {
      guard let reference else { return false }
      guard let object = reference.object else { return true }
      keep(object)
      return false
    }
    return isGone(ownerReference) || isGone(subjectReference)
  }

  /// Returns the context to release with a handler: that of the closure that takes the owner, or the handler's own. (The own context of
  /// a handler with an owner is this registration, which the entry retains.)
  func captured(by handler: pubsub_handler) -> UnsafeMutableRawPointer? {
    handler.function == pubsub_owned_call() ? ownedClosure.context : handler.context
  }

  /// Ends the subscription: a post has found that the owner has been released, and the handler does not get the event.
  func ownerIsGone() {
    cancel()
    Posting.noteUnheard()
  }

  /// Removes the handler from every store; a second call may run while the first one is under way.
  func cancel() {
    if isRemoved.load(ordering: .acquiring) { return }
    core.remove(self)
    // A second call closes it, too, as it must not return before the receiver is closed.
    receiver?.close()
    isRemoved.store(true, ordering: .releasing)
  }

  /// Calls the action when no handler of the cancelled subscription runs; immediately if none runs now.
  func whenIdle(_ action: @escaping @Sendable () -> Void) {
    if let mailbox { return mailbox.whenIdle(action) }
    core.whenIdle(id, in: store, from: subjectAddress, action)
  }
}
