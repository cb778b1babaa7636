internal import CPubSub
internal import Synchronization

extension BusCore {
  @inline(__always)
  func store<E: EventBus.Event>(of type: E.Type) -> Unmanaged<HandlerStore> { Self.store(of: topic(of: type)) }

  func typedStore<E: EventBus.Event>(of type: E.Type) -> TopicStore<E> {
    unsafeDowncast(store(of: type).takeUnretainedValue(), to: TopicStore<E>.self)
  }

  /// Makes a plain subscription.
  static func subscribePlainly(
    _ handler: pubsub_handler, _ priority: EventBus.Priority, _ fileID: String, _ line: Int,
    to store: Unmanaged<HandlerStore>
  ) -> EventBus.Subscription {
    store._withUnsafeGuaranteedRef { store in
      store.unownedCore._withUnsafeGuaranteedRef { core in
        let (id, site) = core.withLock { _ in
          let (id, site) = (core.nextID, core.sites.site(fileID, line))
          core.useID(id)
          store.add(handler, .init(id: id, site: site, priority), &core.garbage)
          return (id, site)
        }
        return EventBus.Subscription(id, at: site, in: store)
      }
    }
  }

  /// Returns the site of a subscriber; subscribers without a label on the same source line share one site.
  func site(of subscriber: EventBus.Subscriber) -> Site {
    if subscriber.label != nil { return Site(subscriber) }
    return withLock { _ in sites.site(subscriber.fileID, subscriber.line).takeUnretainedValue() }
  }

  /// Adds a handler to a topic; with replay, a receiver atomically holds the latest event of a sticky type, too.
  ///
  /// No post can come between the two steps. So each event is the replayed one, or was posted before it, or will be
  /// delivered.
  func add<E: EventBus.Event>(
    _ handler: pubsub_handler, _ registration: Registration, to type: E.Type, _ receiver: Receiver? = nil,
    replay: EventBus.Replay<E> = .none
  ) {
    let store = typedStore(of: type)
    let subject = registration.subject
    var replayed: E?
    let isInserted = withLock { released in
      func insert() -> Bool {
        assignID(to: registration, in: store)
        return self.insert(handler, registration, into: store, &released)
      }
      guard store.isSticky, let receiver else { return insert() }
      // Take the identifier under the sticky lock, too: a post that has stored its event before must not deliver it to this
      // handler. Every post reads the next identifier under the same lock (`keepLatest`).
      return store.underStickyLock {
        guard insert() else { return false }
        if replay.isLatest { replayed = store.latestUnderLock(from: subject) }
        if let replayed { withUnsafePointer(to: replayed) { _ = receiver.hold($0, of: store, .posted) } }
        return true
      }
    }
    // Release the event after the lock: its deinitializer may call the bus.
    withExtendedLifetime(replayed) {}
    // No store holds the handler, so nothing else would ever end the registration.
    if !isInserted { return registration.cancel() }
    if let receiver { Posting.withoutSubject(receiver.wake) }
    sweepIfDue(after: registration)
  }

  /// Adds a handler of every event, or of the events of one name; linear in the number of event types.
  func add(_ wildcard: Wildcard) {
    withLock { released in
      assignID(to: wildcard.registration, in: nil)
      wildcard.registration.isToAll = wildcard.name == nil
      wildcards.append(wildcard)
      for store in stores { insert(wildcard, into: store, &released) }
      followWatchers()
    }
    sweepIfDue(after: wildcard.registration)
  }

  private func assignID(to registration: Registration, in store: HandlerStore?) {
    registration.id = nextID
    registration.store = store
    useID(registration.id)
  }

  func insert(_ wildcard: Wildcard, into store: HandlerStore, _ released: inout Released) {
    guard wildcard.name == nil || wildcard.name == store.name else { return }
    let handler = wildcard.receiver.map { pubsub_handler($0) } ?? store.handler(of: wildcard)
    insert(handler, wildcard.registration, into: store, &released)
  }

  /// Adds a handler to a store; returns false if its owner or subject has been released, so that it was not added.
  ///
  /// An owner may subscribe in its own deinitializer, and a wildcard is added to stores made after its owner is gone.
  @discardableResult
  private func insert(
    _ handler: pubsub_handler, _ registration: Registration, into store: HandlerStore, _ released: inout Released
  ) -> Bool {
    let entry = HandlerBlock.Entry(registration, isAsynchronous: handler.function == pubsub_receiving())
    let subject = registration.subject
    if let subject { released.add(subject) }
    if registration.isExpired(releasingLater: { released.add($0) }) {
      released.add(Captured(by: handler, entry))
      return false
    }
    store.add(handler, entry, from: subject, &garbage)
    return true
  }
}

extension pubsub_handler {
  /// Makes a handler of a receiver and retains it; the code that removes the handler releases the receiver.
  init(_ receiver: Receiver) {
    self.init(function: pubsub_receiving(), context: Unmanaged.passRetained(receiver).toOpaque())
  }
}

// MARK: - Cancelling

extension BusCore {
  func remove(_ id: UInt64, from store: HandlerStore) {
    withLock { released in store.remove(id, &garbage, into: &released) }
  }

  /// Removes a subscription from its store or, if it is a wildcard, from all stores.
  func remove(_ registration: Registration) {
    let wildcard: Wildcard? = withLock { released in
      let index = wildcards.firstIndex { $0.registration === registration }
      let wildcard = index.map { wildcards.remove(at: $0) }
      for store in registration.store.map({ [$0] }) ?? stores {
        store.remove(registration.id, from: registration.subjectAddress, &garbage, into: &released)
      }
      if wildcard != nil { followWatchers() }
      return wildcard
    }
    // Released after the lock: objects that it captured may call the bus.
    withExtendedLifetime(wildcard) {}
  }

  /// Ends every subscription, when the bus is released.
  func endAll() {
    let registered = withLock { _ in registrations }
    for registration in registered { registration.cancel() }
    withLock { released in
      for store in stores {
        for entry in store.list.living where entry.registration == nil {
          store.remove(entry.id, &garbage, into: &released)
        }
      }
    }
    // Subscriptions may keep the core for long.
    for store in withLock({ _ in stores }) { store.removeLatest(forGood: true) }
  }

  /// Calls the action when the handler of a cancelled subscription, in one store or in all, does not run.
  func whenIdle(
    _ id: UInt64, in store: HandlerStore?, from subject: UnsafeRawPointer?, _ action: @escaping @Sendable () -> Void
  ) {
    withLock { released in
      let present = (store.map { [$0] } ?? stores).compactMap { $0.address(of: id, from: subject) }
      garbage.whenIdle(garbage.retiredHandlers(id) + present, action, into: &released)
    }
  }
}

// MARK: - Listing

extension BusCore {
  var listings: [EventBus.Listing] {
    withLock { released in
      func isExpired(_ one: Registration) -> Bool { one.isExpired(releasingLater: { released.add($0) }) }
      let typed = stores.flatMap { store in
        store.living.compactMap { entry -> (UInt64, EventBus.Listing)? in
          // A wildcard is listed once, below.
          if let registration = entry.registration, registration.store == nil || isExpired(registration) { return nil }
          let priority = EventBus.Priority(rawValue: entry.priority)
          return (entry.id, .init(subscriber: entry.subscriber, eventName: store.name, priority: priority))
        }
      }
      let everywhere = wildcards.filter { !isExpired($0.registration) }.map { wildcard in
        let registration = wildcard.registration
        let listing = EventBus.Listing(
          subscriber: registration.subscriber, eventName: wildcard.name, priority: registration.priority)
        return (registration.id, listing)
      }
      return (typed + everywhere).sorted { $0.0 < $1.0 }.map(\.1)
    }
  }
}
