internal import CPubSub
internal import Synchronization

/// What a bus consists of: its topics by type, who subscribes to all of them, and the lock of those who write.
///
/// Lives as long as the bus or any of its subscriptions. A post takes no lock: it finds its topic in a table that is only
/// ever added to, and reads what ``HandlerStore`` shows it.
final class BusCore: @unchecked Sendable {
  private let lock = Guarded(())
  private let lastID = Atomic<UInt64>(0)
  /// Whether a poster had something freed while the lock was taken: who lets go of the lock looks.
  private let isOwed = Atomic<Bool>(false)
  /// Whether posts of types that nobody subscribed to are seen by somebody.
  private let seesEveryPost = Atomic<Bool>(false)
  /// The bus, for subscriptions and posts that may outlive it; set before anybody knows of it.
  weak var bus: EventBus?
  let tracers = Guarded<[Tracer]>([])
  private let limit: Int
  /// Whether events are handed to C by their address as it comes.
  let takesAddresses = EventAddressCheck.isAsExpected

  /// The table by type, as readers find it.
  private let tableRoot: UnsafeMutablePointer<UnsafeRawPointer?>
  // Guarded by the lock:
  private var tables: [UnsafeMutablePointer<pubsub_table>]
  private var stores: [HandlerStore] = []
  private var typeKeys: [UnsafeRawPointer] = []
  private var storeOfType: [ObjectIdentifier: HandlerStore] = [:]
  private var wildcards: [Wildcard] = []
  private var undelivered: HandlerStore?
  private var wasObserved = false
  /// So many subscriptions that can expire may still come before those that have are looked for.
  private var untilSweep = 64
  /// Stores in which something waits to be freed.
  private var unclean: [ObjectIdentifier: HandlerStore] = [:]

  /// Told every post; not a receiver.
  final class Tracer: Sendable {
    let body: @Sendable (any BusEvent) -> Void
    init(_ body: @escaping @Sendable (any BusEvent) -> Void) { self.body = body }
  }

  init(limit: Int) {
    self.limit = limit
    tableRoot = .allocate(capacity: 1)
    let table = pubsub_make_table(6)
    tables = [table]
    tableRoot.initialize(to: UnsafeRawPointer(table))
    pubsub_set_finisher(Self.finisher)
    // There from the beginning, as whether it has subscribers decides how all others are posted to.
    withLock { undelivered = store(of: Undelivered.self, &$0) }
  }

  deinit {
    for table in tables { pubsub_free(table) }
    tableRoot.deallocate()
  }

  /// The identifier that the next subscription will have.
  var nextID: UInt64 { lastID.load(ordering: .acquiring) + 1 }
}

// MARK: - The lock

extension BusCore {
  /// Runs a writer's work; what it lets go of is released afterwards, without the lock.
  func withLock<Result>(_ body: (inout Released) -> Result) -> Result {
    var released = Released()
    // Not the closure's result: what leaves the lock by that way would have to be sent, and nothing is sent here.
    var result: Result?
    lock.withLock { _ in result = body(&released) }
    released.finish()
    if isOwed.load(ordering: .sequentiallyConsistent) { housekeep() }
    return result.unsafelyUnwrapped
  }

  /// Frees what nobody reads any more; called by who leaves a topic in which something waits.
  ///
  /// Never waits for the lock: whoever has it looks again when it lets go.
  func housekeep() {
    isOwed.store(true, ordering: .sequentiallyConsistent)
    while isOwed.load(ordering: .sequentiallyConsistent) {
      var released = Released()
      let wasFree: Void? = lock.withLockIfAvailable { _ in
        isOwed.store(false, ordering: .sequentiallyConsistent)
        reclaim(into: &released)
      }
      released.finish()
      if wasFree == nil { return }
    }
  }

  private func reclaim(into released: inout Released) {
    for (key, store) in unclean {
      store.reclaim(into: &released)
      if store.isClean { unclean[key] = nil }
    }
  }

  /// Remembers a store in which something waits; the caller holds the lock.
  private func note(_ store: HandlerStore) {
    if store.isClean {
      if !unclean.isEmpty { unclean[ObjectIdentifier(store)] = nil }
    } else {
      unclean[ObjectIdentifier(store)] = store
    }
  }
}

// MARK: - Topics

extension BusCore {
  /// The topic of a type, for a post; nil if nobody can receive it or wants to see it.
  @inline(__always)
  func topic<E: BusEvent>(of type: E.Type) -> UnsafeMutablePointer<pubsub_topic>? {
    if let topic = pubsub_find(tableRoot, Self.key(type)) { return topic }
    guard seesEveryPost.load(ordering: .acquiring) || E.traits.contains(.sticky) else { return nil }
    return withLock { store(of: type, &$0) }.topic
  }

  private static func key(_ type: Any.Type) -> UnsafeRawPointer { unsafeBitCast(type, to: UnsafeRawPointer.self) }

  /// The store of a type, made if need be with the wildcards that stand; the caller holds the lock.
  func store<E: BusEvent>(of type: E.Type, _ released: inout Released) -> TopicStore<E> {
    // The identity of the type is the key, so the cast cannot fail.
    if let store = storeOfType[ObjectIdentifier(type)] { return unsafeDowncast(store, to: TopicStore<E>.self) }
    let store = TopicStore<E>(in: self, limit: limit)
    if isObserved { store.setGeneral(true) }
    for wildcard in wildcards { insert(wildcard, into: store, &released) }
    stores.append(store)
    storeOfType[ObjectIdentifier(type)] = store
    if stores.count * 2 > tables[tables.count - 1].pointee.mask { growTable() }
    pubsub_insert(tables[tables.count - 1], Self.key(type), store.topic)
    typeKeys.append(Self.key(type))
    pubsub_store_pointer(tableRoot, UnsafeRawPointer(tables[tables.count - 1]))
    return store
  }

  /// Makes a table of twice the size; the former one keeps what it has for those who read it, until the bus goes.
  private func growTable() {
    let table = pubsub_make_table(tables.count + 6)
    for (key, store) in zip(typeKeys, stores) { pubsub_insert(table, key, store.topic) }
    tables.append(table)
  }
}

// MARK: - Subscribing and cancelling

extension BusCore {
  /// The store of a type, for who is about to subscribe or post.
  func store<E: BusEvent>(for type: E.Type) -> HandlerStore {
    guard let topic = pubsub_find(tableRoot, Self.key(type)), let owner = topic.pointee.owner else {
      return withLock { store(of: type, &$0) }
    }
    return Unmanaged<HandlerStore>.fromOpaque(owner).takeUnretainedValue()
  }

  /// Adds a handler to a topic.
  func add(_ handler: pubsub_handler, _ registration: Registration, to store: HandlerStore) {
    withLock { released in add(handler, registration, to: store, &released) }
    if registration.isTied { sweepIfDue() }
  }

  private func add(
    _ handler: pubsub_handler, _ registration: Registration, to store: HandlerStore, _ released: inout Released
  ) {
    registration.id = lastID.load(ordering: .relaxed) + 1
    registration.store = store
    // Before it stands anywhere: who has been delivered one post must not miss the next, whichever way that takes.
    lastID.store(registration.id, ordering: .releasing)
    insert(handler, registration, into: store, &released)
    if store === undelivered { followObservers() }
  }

  /// Adds a handler to a topic, and in the same instant has the latest event of a sticky type held.
  ///
  /// No post comes between the two, so that each event is either that one, or one that was posted before it, or will be
  /// delivered. `hold` is called under the lock, if there is a latest event from the subject asked for.
  func add<E: BusEvent>(
    _ handler: pubsub_handler, _ registration: Registration, to type: E.Type, replay: Replay, hold: (E) -> Void
  ) {
    let untouched: E? = withLock { released in
      let store = store(of: type, &released)
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
      wildcard.registration.id = lastID.load(ordering: .relaxed) + 1
      wildcards.append(wildcard)
      lastID.store(wildcard.registration.id, ordering: .releasing)
      for store in stores { insert(wildcard, into: store, &released) }
      followObservers()
    }
    if wildcard.registration.isTied { sweepIfDue() }
  }

  /// Now and then cancels those whose owner or subject is gone, as nobody else may ever come across them.
  ///
  /// Constant time for each subscription, on average: as many have come since the last time as there were then.
  private func sweepIfDue() {
    let expired = withLock { released -> [Registration] in
      untilSweep -= 1
      guard untilSweep <= 0 else { return [] }
      let all = stores.flatMap(\.registrations) + wildcards.map(\.registration)
      untilSweep = max(64, all.count)
      return all.filter { $0.isExpired(keeping: &released) }
    }
    for registration in expired { registration.cancel() }
  }

  private func insert(_ wildcard: Wildcard, into store: HandlerStore, _ released: inout Released) {
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

  /// The latest event of a sticky type, for a subscriber who wants to be told of it.
  func latest<E: BusEvent>(_ type: E.Type, for registration: Registration) -> E? {
    withLock { store(of: type, &$0).latest(for: registration, keeping: &$0) }
  }

  /// Takes a subscription out of every place in which it stands.
  func remove(_ registration: Registration) {
    let wildcard: Wildcard? = withLock { released in
      guard let store = registration.store else { return removeWildcard(registration, &released) }
      store.remove(registration, into: &released)
      note(store)
      if store === undelivered { followObservers() }
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

  /// Whether anybody looks at every post, or at those that nobody received; the caller holds the lock.
  private var isObserved: Bool {
    guard let undelivered else { return false }
    return undelivered.topic.pointee.root != nil || !tracers.withLock { $0.isEmpty }
  }

  /// Sends posts the way on which observers see them, while there are any; the caller holds the lock.
  func followObservers() {
    let isObserved = isObserved
    if isObserved != wasObserved { for store in stores { store.setGeneral(isObserved) } }
    wasObserved = isObserved
    seesEveryPost.store(!wildcards.isEmpty || isObserved, ordering: .releasing)
  }

  /// Ends every subscription: the bus is gone.
  func endAll() {
    let all = withLock { _ in stores.flatMap(\.registrations) + wildcards.map(\.registration) }
    for registration in all { registration.cancel() }
  }

  /// Everybody who subscribes, in order of subscription.
  var registrations: [Registration] {
    withLock { released in
      (stores.flatMap(\.registrations).filter { $0.store != nil } + wildcards.map(\.registration))
        .filter { !$0.isExpired(keeping: &released) }
        .sorted { $0.id < $1.id }
    }
  }

  /// Calls once no post that could run a cancelled handler is under way; at once if none is.
  func whenUnread(_ registration: Registration, _ action: @escaping @Sendable () -> Void) {
    let affected = withLock { _ in registration.store.map { [$0] } ?? stores }
    whenUnread(affected[...], action)
  }

  private func whenUnread(_ affected: ArraySlice<HandlerStore>, _ action: @escaping @Sendable () -> Void) {
    guard let store = affected.first else { return action() }
    let isTaken = withLock { released in
      defer { note(store) }
      return store.whenUnread({ self.whenUnread(affected.dropFirst(), action) }, into: &released)
    }
    if !isTaken { whenUnread(affected.dropFirst(), action) }
  }

  /// Those for whom a post that waits is, in the order of delivery; a sticky event is kept in the same instant.
  func recipients<E: BusEvent>(of event: E, from subject: (any AnyObject & Sendable)?) -> [Recipient<E>] {
    observe(event)
    let (recipients, former) = withLock { released in
      let store = store(of: E.self, &released)
      let former = store.keep(event, from: subject)
      return (store.recipients(from: subject), former)
    }
    withExtendedLifetime(former) {}
    if recipients.isEmpty { reportUndelivered(event) }
    return recipients
  }
}
