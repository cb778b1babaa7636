internal import CPubSub
internal import Synchronization

extension BusCore {
  /// The store of a type, made if need be; the core keeps it.
  @inline(__always)
  func store<E: BusEvent>(for type: E.Type) -> Unmanaged<HandlerStore> {
    if let owner = Self.topic(of: type, in: table)?.pointee.owner { return .fromOpaque(owner) }
    let description = EventDescription<E>()
    return .passUnretained(withLock { store(of: description, &$0) })
  }

  /// The same, as the store of its type.
  private func typedStore<E: BusEvent>(for type: E.Type) -> TopicStore<E> {
    unsafeDowncast(store(for: type).takeUnretainedValue(), to: TopicStore<E>.self)
  }

  /// Subscribes a handler that is a closure and no more.
  static func subscribePlainly(
    _ handler: pubsub_handler, _ priority: Priority, _ fileID: String, _ line: Int, to store: Unmanaged<HandlerStore>
  ) -> Subscription {
    store._withUnsafeGuaranteedRef { store in
      store.unownedCore._withUnsafeGuaranteedRef { core in
        let (id, site) = core.withLock { released in
          let (id, site) = (core.nextID, core.sites.site(fileID, line))
          core.take(id)
          store.add(handler, .init(id: id, site: site), priority, into: &released)
          core.note(store)
          return (id, site)
        }
        return Subscription(id, at: site, in: store)
      }
    }
  }

  /// The site of a subscriber; those without a label share it.
  func site(of subscriber: Subscriber) -> Site {
    if subscriber.label != nil { return Site(subscriber) }
    return withLock { _ in sites.site(subscriber.fileID, subscriber.line).takeUnretainedValue() }
  }

  /// Adds the synchronous handler of a registration to a topic.
  func add(_ handler: pubsub_handler, _ registration: Registration, to store: Unmanaged<HandlerStore>) {
    store._withUnsafeGuaranteedRef { store in
      let isInserted = withLock { released in
        begin(registration, in: store)
        return insert(handler, registration, isAsynchronous: false, into: store, &released)
      }
      if !isInserted { registration.cancel() }
    }
    if registration.isTied { sweepIfDue() }
  }

  /// Adds a receiver to a topic, and in the same instant has the latest event of a sticky type held.
  ///
  /// No post comes between the two, so that each event is either that one, or one that was posted before it, or will be
  /// delivered.
  func add<E: BusEvent>(_ receiver: Receiver, _ registration: Registration, to type: E.Type, replay: Replay) {
    let store = typedStore(for: type)
    let isInserted = withLock { released in
      let handler = pubsub_handler(receiver)
      guard store.isSticky else {
        begin(registration, in: store)
        return insert(handler, registration, isAsynchronous: true, into: store, &released)
      }
      // The identifier, too, is taken in order: a post that was kept before must not see the handler afterwards.
      var isInserted = false
      let untouched: E? = store.withOrder {
        begin(registration, in: store)
        isInserted = insert(handler, registration, isAsynchronous: true, into: store, &released)
        guard replay == .latest, isInserted else { return nil }
        let latest = store.latest(keeping: &released) { registration.accepts($0) }
        if let latest { withUnsafePointer(to: latest) { _ = receiver.hold($0, of: store, .posted) } }
        return latest
      }
      // Its deinitialiser may call the bus.
      if let untouched { released.keep(Kept(untouched)) }
      return isInserted
    }
    // No store knows it, so that nothing else would ever end it.
    if !isInserted { return registration.cancel() }
    receiver.wake()
    if registration.isTied { sweepIfDue() }
  }

  /// Keeps a value until the lock has been let go of.
  private final class Kept<Value> {
    let value: Value
    init(_ value: Value) { self.value = value }
  }

  /// Adds a handler of every event, or of those of one name.
  ///
  /// - Complexity: linear in the number of event types.
  func add(_ wildcard: Wildcard) {
    withLock { released in
      begin(wildcard.registration, in: nil)
      wildcards.append(wildcard)
      for store in stores { insert(wildcard, into: store, &released) }
      followObservers()
    }
    wildcard.receiver?.wake()
    if wildcard.registration.isTied { sweepIfDue() }
  }

  private func begin(_ registration: Registration, in store: HandlerStore?) {
    registration.id = nextID
    registration.store = store
    take(registration.id)
  }

  func insert(_ wildcard: Wildcard, into store: HandlerStore, _ released: inout Released) {
    guard wildcard.name == nil || wildcard.name == store.name else { return }
    let handler = wildcard.receiver.map { pubsub_handler($0) } ?? store.handler(of: wildcard)
    insert(handler, wildcard.registration, isAsynchronous: wildcard.receiver != nil, into: store, &released)
  }

  /// Puts a handler in its place; false if it stands nowhere.
  @discardableResult
  private func insert(
    _ handler: pubsub_handler, _ registration: Registration, isAsynchronous: Bool, into store: HandlerStore,
    _ released: inout Released
  ) -> Bool {
    let entry = HandlerBuffer.Entry(registration, isAsynchronous: isAsynchronous)
    let subject = registration.subject
    if let subject { released.keep(subject) }
    // A subject that is gone already can receive nothing; its handler stands nowhere.
    if registration.isExpired(keeping: &released) {
      Captured(by: handler, entry).forEach { released.add($0) }
      return false
    }
    store.add(handler, entry, registration.priority, from: subject, into: &released)
    note(store)
    return true
  }

  /// The latest event of a sticky type, for a subscriber with replay.
  func latest<E: BusEvent>(_ type: E.Type, for registration: Registration?) -> E? {
    typedStore(for: type).latest { registration?.accepts($0) ?? true }
  }

  /// The latest event of a sticky type, if it was posted from this object; from any if nil.
  func latest<E: BusEvent>(_ type: E.Type, from subject: (any AnyObject & Sendable)?) -> E? {
    typedStore(for: type).latest { subject == nil || $0 === subject }
  }

  /// Keeps no event of a sticky type until the next is posted.
  func removeLatest<E: BusEvent>(_ type: E.Type) { typedStore(for: type).removeLatest() }
}

extension pubsub_handler {
  /// A receiver as a handler; it is released by the code that removes the handler.
  fileprivate init(_ receiver: Receiver) {
    self.init(function: pubsub_receiving(), context: Unmanaged.passRetained(receiver).toOpaque())
  }
}

// MARK: - Cancelling

extension BusCore {
  /// Takes out a plain subscription.
  func remove(_ id: UInt64, from store: HandlerStore) {
    withLock { released in
      store.remove(id, into: &released)
      note(store)
    }
  }

  /// Whether a plain subscription has not been taken out.
  func stands(_ id: UInt64, in store: HandlerStore) -> Bool { withLock { _ in store.stands(id) } }

  /// Takes a subscription out of every place in which it stands.
  func remove(_ registration: Registration) {
    let wildcard: Wildcard? = withLock { released in
      guard let store = registration.store else { return removeWildcard(registration, &released) }
      store.remove(registration.id, from: registration.subjectAddress, into: &released)
      note(store)
      return nil
    }
    // Released without the lock: what it captured may call the bus.
    withExtendedLifetime(wildcard) {}
  }

  private func removeWildcard(_ registration: Registration, _ released: inout Released) -> Wildcard? {
    guard let index = wildcards.firstIndex(where: { $0.registration === registration }) else { return nil }
    for store in stores {
      store.remove(registration.id, from: registration.subjectAddress, into: &released)
      note(store)
    }
    defer { followObservers() }
    return wildcards.remove(at: index)
  }

  /// Ends every subscription: the bus is gone.
  func endAll() {
    let registered = withLock { _ in registrations }
    for registration in registered { registration.cancel() }
    withLock { released in
      for store in stores {
        store.removePlain(into: &released)
        note(store)
      }
    }
  }
}

// MARK: - Looking and waiting

extension BusCore {
  /// All subscriptions, in order of subscription.
  var listings: [EventBus.Listing] {
    withLock { released in
      let standing = stores.flatMap { store in
        store.standing.compactMap { entry, priority -> (UInt64, EventBus.Listing)? in
          // Wildcards stand everywhere, and are listed once.
          if let registration = entry.registration,
            registration.store == nil || registration.isExpired(keeping: &released)
          {
            return nil
          }
          let priority = Priority(rawValue: priority)
          return (entry.id, .init(subscriber: entry.subscriber, eventName: store.name, priority: priority))
        }
      }
      let everywhere = wildcards.filter { !$0.registration.isExpired(keeping: &released) }.map { wildcard in
        let registration = wildcard.registration
        let listing = EventBus.Listing(
          subscriber: registration.subscriber, eventName: wildcard.name, priority: registration.priority)
        return (registration.id, listing)
      }
      return (standing + everywhere).sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  /// Calls once no handler of a cancelled subscription runs, in its store or, if it had none, in all; at once if none does.
  func whenIdle(in store: HandlerStore?, _ action: @escaping @Sendable () -> Void) {
    let affected = withLock { _ in store.map { [$0] } ?? stores }
    whenUnread(affected[...], action)
  }

  /// Calls once no post that could run a cancelled handler is under way; at once if none is.
  private func whenUnread(_ affected: ArraySlice<HandlerStore>, _ action: @escaping @Sendable () -> Void) {
    guard let store = affected.first else { return action() }
    let isTaken = withLock { released in
      defer { note(store) }
      return store.whenUnread({ self.whenUnread(affected.dropFirst(), action) }, into: &released)
    }
    if !isTaken { whenUnread(affected.dropFirst(), action) }
  }
}
