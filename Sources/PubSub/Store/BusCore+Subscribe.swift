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

  /// Subscribes a handler that is a closure and no more; nil if a plain subscription has no room for what it would keep.
  func subscribePlainly(
    _ handler: pubsub_handler, _ priority: Priority, _ fileID: String, _ line: Int, to store: Unmanaged<HandlerStore>
  ) -> Subscription? {
    let reference: PlainReference? = store._withUnsafeGuaranteedRef { store in
      withLock { released in
        let id = nextID
        guard let site = sites.number(fileID, line), let reference = store.reference(id: id, site: site) else {
          return nil
        }
        take(id)
        store.add(handler, .init(id: id, site: site), priority, into: &released)
        note(store)
        return reference
      }
    }
    return reference.map { Subscription($0, in: self) }
  }

  /// Adds a handler to a topic.
  func add(_ handler: pubsub_handler, _ registration: Registration, to store: Unmanaged<HandlerStore>) {
    store._withUnsafeGuaranteedRef { store in
      withLock { released in add(handler, registration, to: store, &released) }
    }
    if registration.isTied { sweepIfDue() }
  }

  private func add(
    _ handler: pubsub_handler, _ registration: Registration, to store: HandlerStore, _ released: inout Released
  ) {
    registration.id = nextID
    registration.store = store
    take(registration.id)
    insert(handler, registration, into: store, &released)
  }

  /// Adds a handler to a topic, and in the same instant has the latest event of a sticky type held.
  ///
  /// No post comes between the two, so that each event is either that one, or one that was posted before it, or will be
  /// delivered. `hold` is called under the lock, if there is a latest event from the subject asked for.
  func add<E: BusEvent>(
    _ handler: pubsub_handler, _ registration: Registration, to type: E.Type, replay: Replay, hold: (E) -> Void
  ) {
    let store = typedStore(for: type)
    let untouched: E? = withLock { released in
      add(handler, registration, to: store, &released)
      guard replay == .latest, let latest = store.latest(for: registration, keeping: &released) else { return nil }
      hold(latest)
      return latest
    }
    // Released without the lock: its deinitialiser may call the bus.
    withExtendedLifetime(untouched) {}
    if registration.isTied { sweepIfDue() }
  }

  /// Adds a handler of every event, or of those of one name.
  ///
  /// - Complexity: linear in the number of event types.
  func add(_ wildcard: Wildcard) {
    withLock { released in
      wildcard.registration.id = nextID
      wildcards.append(wildcard)
      take(wildcard.registration.id)
      for store in stores { insert(wildcard, into: store, &released) }
      followObservers()
    }
    if wildcard.registration.isTied { sweepIfDue() }
  }

  func insert(_ wildcard: Wildcard, into store: HandlerStore, _ released: inout Released) {
    guard wildcard.name == nil || wildcard.name == store.name else { return }
    insert(store.handler(of: wildcard), wildcard.registration, into: store, &released)
  }

  private func insert(
    _ handler: pubsub_handler, _ registration: Registration, into store: HandlerStore, _ released: inout Released
  ) {
    // A subject that is gone already can receive nothing; its handler stands nowhere.
    if registration.isExpired(keeping: &released) { return handler.context.map { released.add($0) } ?? () }
    store.add(handler, registration, into: &released)
    note(store)
  }

  /// The latest event of a sticky type, for a subscriber with replay.
  func latest<E: BusEvent>(_ type: E.Type, for registration: Registration?) -> E? {
    let store = typedStore(for: type)
    return withLock { store.latest(for: registration, keeping: &$0) }
  }

  /// The latest event of a sticky type, if it was posted from this object; from any if nil.
  func latest<E: BusEvent>(_ type: E.Type, from subject: (any AnyObject & Sendable)?) -> E? {
    let store = typedStore(for: type)
    return withLock { released in store.latest(keeping: &released) { subject == nil || $0 === subject } }
  }

  /// Keeps no event of a sticky type until the next is posted.
  func removeLatest<E: BusEvent>(_ type: E.Type) {
    let store = typedStore(for: type)
    let former = withLock { _ in store.takeLatest() }
    // Released without the lock: its deinitialiser may call the bus.
    withExtendedLifetime(former) {}
  }
}

// MARK: - Cancelling

extension BusCore {
  /// Takes out a plain subscription, whose word becomes that of a cancelled one.
  func remove(_ reference: PlainReference, _ word: borrowing Atomic<UInt64>) {
    withLock { released in
      // Another thread may have been first; a later subscription may be found by the same reference.
      guard word.load(ordering: .relaxed) == reference.word else { return }
      StoreNumbers.store(reference.store)._withUnsafeGuaranteedRef { store in
        store.remove(reference, into: &released)
        note(store)
      }
      // Last: a thread that finds it cancelled may rely on that.
      word.store(reference.whenCancelled, ordering: .releasing)
    }
  }

  /// Whether a plain subscription has not been taken out.
  func stands(_ reference: PlainReference) -> Bool {
    let store = StoreNumbers.store(reference.store).takeUnretainedValue()
    return withLock { _ in store.stands(store.id(of: reference), nil) }
  }

  /// Takes a subscription out of every place in which it stands.
  func remove(_ registration: Registration) {
    let wildcard: Wildcard? = withLock { released in
      guard let store = registration.store else { return removeWildcard(registration, &released) }
      store.remove(registration, into: &released)
      note(store)
      return nil
    }
    // Released without the lock: what it captured may call the bus.
    withExtendedLifetime(wildcard) {}
  }

  private func removeWildcard(_ registration: Registration, _ released: inout Released) -> Wildcard? {
    guard let index = wildcards.firstIndex(where: { $0.registration === registration }) else { return nil }
    for store in stores {
      store.remove(registration, into: &released)
      note(store)
    }
    defer { followObservers() }
    return wildcards.remove(at: index)
  }

  /// Ends every subscription: the bus is gone.
  func endAll() {
    let registered = withLock { _ in stores.flatMap { $0.registrations.values } + wildcards.map(\.registration) }
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
        store.all.compactMap { one -> (UInt64, EventBus.Listing)? in
          let registration = store.registrations[one.entry.id]
          // Wildcards stand everywhere, and are listed once.
          if let registration, registration.store == nil || registration.isExpired(keeping: &released) { return nil }
          let subscriber = registration?.subscriber ?? sites.subscriber(at: one.entry.site)
          return (one.entry.id, .init(subscriber: subscriber, eventName: store.name, priority: one.priority))
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

  /// The subscriber of a plain subscription.
  func subscriber(at site: UInt16) -> Subscriber { withLock { _ in sites.subscriber(at: site) } }

  /// Calls once no handler of a cancelled subscription runs, in its store or, if it had none, in all; at once if none does.
  func whenIdle(_ shortID: UInt32, in store: HandlerStore?, _ action: @escaping @Sendable () -> Void) {
    let affected = withLock { _ in store.map { [$0] } ?? stores }
    whenUnread(affected[...]) {
      if !self.withLock({ _ in self.awaitedCalls.whenReturned(shortID, action) }) { action() }
    }
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
