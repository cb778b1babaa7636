internal import CPubSub
internal import Synchronization

/// What a bus consists of: its topics by type, the subscriptions to all of them, and the writers' lock.
///
/// Lives as long as the bus or any of its subscriptions. A post takes no lock: it finds its topic in a table that is only
/// ever added to, and reads what ``HandlerStore`` shows it.
final class BusCore: @unchecked Sendable {
  private let lock = Guarded(())
  private let lastID = Atomic<UInt64>(0)
  /// Whether a poster wanted memory freed while the lock was held: the holder scans when it releases the lock.
  private let isOwed = Atomic<Bool>(false)
  /// Whether posts of types without subscribers are seen: by a tracer, a wildcard subscription or one to `Undelivered`.
  private let seesEveryPost = Atomic<Bool>(false)
  /// Whether there is a tracer or a subscription to `Undelivered`.
  private let hasObservers = Atomic<Bool>(false)
  let tracers = Guarded<[Tracer]>([])
  /// The deadlines of what is awaited, on the bus's own clock.
  let deadlines: Deadlines
  private let limit: Int

  /// The table by type, as readers find it.
  let table = TopicTable()

  // Guarded by the lock, which is why the compiler's checks of each access are left out, too (see HandlerStore).
  @exclusivity(unchecked) var sites = SiteTable()
  @exclusivity(unchecked) private var tables: [UnsafeMutablePointer<pubsub_table>]
  @exclusivity(unchecked) private(set) var stores: [HandlerStore] = []
  @exclusivity(unchecked) private var typeKeys: [UnsafeRawPointer] = []
  @exclusivity(unchecked) private var storeOfType: [ObjectIdentifier: HandlerStore] = [:]
  @exclusivity(unchecked) var wildcards: [Wildcard] = []
  @exclusivity(unchecked) private var undelivered: HandlerStore?
  @exclusivity(unchecked) private var wasObserved = false
  /// So many subscriptions that can expire may still come before those that have are looked for.
  @exclusivity(unchecked) private var untilSweep = 64
  /// Stores in which something waits to be freed.
  @exclusivity(unchecked) private var unclean: [HandlerStore] = []

  /// Told every post; not a receiver.
  final class Tracer: Sendable {
    let body: @Sendable (any BusEvent) -> Void
    init(_ body: @escaping @Sendable (any BusEvent) -> Void) { self.body = body }
  }

  init(limit: Int, deadlines: Deadlines) {
    self.limit = limit
    self.deadlines = deadlines
    let first = pubsub_make_table(6)
    tables = [first]
    pubsub_store_pointer(table.root, UnsafeRawPointer(first))
    _ = Self.helpersAreSet
    // There from the beginning, as whether it has subscribers decides how all others are posted to.
    withLock { undelivered = store(of: EventDescription<Undelivered>(), &$0) }
  }

  deinit {
    for table in tables { pubsub_free(table) }
    table.deallocate()
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
    Hook.locks(self)
    lock.withLock { _ in result = body(&released) }
    Hook.hasUnlocked(self)
    released.finish()
    Hook.step("lock: look what is owed")
    if isOwed.load(ordering: .sequentiallyConsistent) { housekeep() }
    return result.unsafelyUnwrapped
  }

  /// Runs a writer's work unless there is another writer.
  private func withLockIfAvailable(_ body: (inout Released) -> Void) {
    var released = Released()
    lock.withLockIfAvailable { _ in
      Hook.hasLocked(self)
      body(&released)
    }.map { Hook.hasUnlocked(self) }
    released.finish()
    if isOwed.load(ordering: .sequentiallyConsistent) { housekeep() }
  }

  /// Frees what no thread reads any more; called by a post that leaves a topic with a backlog.
  ///
  /// Never waits for the lock: its holder scans again when it releases it.
  func housekeep() {
    isOwed.store(true, ordering: .sequentiallyConsistent)
    while isOwed.load(ordering: .sequentiallyConsistent) {
      var released = Released()
      Hook.step("housekeep: try the lock")
      let wasFree: Void? = lock.withLockIfAvailable { _ in
        Hook.hasLocked(self)
        isOwed.store(false, ordering: .sequentiallyConsistent)
        reclaim(into: &released)
      }
      if wasFree != nil { Hook.hasUnlocked(self) }
      released.finish()
      if wasFree == nil { return }
    }
  }

  private func reclaim(into released: inout Released) {
    unclean.removeAll { store in
      store.reclaim(into: &released)
      store.isUnclean = store.retirement != nil
      return !store.isUnclean
    }
  }

  /// Remembers a store that was written to, if something waits in it; the caller holds the lock.
  @inline(__always)
  func note(_ store: HandlerStore) {
    if store.retirement != nil, !store.isUnclean { noteUnclean(store) }
    if store === undelivered { followObservers() }
  }

  private func noteUnclean(_ store: HandlerStore) {
    store.isUnclean = true
    unclean.append(store)
  }
}

// MARK: - Topics

extension BusCore {
  /// Where readers find the present table, on a cache line of its own.
  struct TopicTable: @unchecked Sendable {
    let root: UnsafeMutablePointer<UnsafeRawPointer?>

    fileprivate init() {
      let line = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 128)
      root = line.bindMemory(to: UnsafeRawPointer?.self, capacity: 1)
      root.initialize(to: nil)
    }

    fileprivate func deallocate() { UnsafeMutableRawPointer(root).deallocate() }
  }

  /// The topic of a type; nil before it is subscribed to or posted.
  @inline(__always)
  static func topic(of type: Any.Type, in table: TopicTable) -> UnsafeMutablePointer<pubsub_topic>? {
    pubsub_find(table.root, key(type))
  }

  /// The same, if it is where it is looked for first.
  @inline(__always)
  static func topicAtOnce(of type: Any.Type, in table: TopicTable) -> UnsafeMutablePointer<pubsub_topic>? {
    pubsub_find_at_once(table.root, key(type))
  }

  /// The topic of a type that is posted for the first time; nil if no subscription and no tracer can see it.
  func firstTopic<E: BusEvent>(of type: E.Type) -> UnsafeMutablePointer<pubsub_topic>? {
    let description = EventDescription<E>()
    if seesEveryPost.load(ordering: .acquiring) || description.traits.contains(.sticky) {
      return withLock { store(of: description, &$0) }.topic
    }
    // The post has no receiver, but the next one should find that out at once. The lock is not waited for.
    withLockIfAvailable { _ = store(of: description, &$0) }
    return nil
  }

  @inline(__always)
  private static func key(_ type: Any.Type) -> UnsafeRawPointer { unsafeBitCast(type, to: UnsafeRawPointer.self) }

  /// The store of a type, made if need be with the wildcards that stand; the caller holds the lock.
  func store<E: BusEvent>(of description: EventDescription<E>, _ released: inout Released) -> TopicStore<E> {
    // The identity of the type is the key, so the cast cannot fail.
    if let store = storeOfType[ObjectIdentifier(E.self)] { return unsafeDowncast(store, to: TopicStore<E>.self) }
    let store = TopicStore(description, in: self, limit: limit)
    if isObserved { store.setGeneral(true) }
    for wildcard in wildcards { insert(wildcard, into: store, &released) }
    stores.append(store)
    storeOfType[ObjectIdentifier(E.self)] = store
    // Nearly all are to be where they are looked for first.
    if stores.count * 4 > pubsub_table_capacity(tables[tables.count - 1]) { growTable() }
    pubsub_insert(tables[tables.count - 1], Self.key(E.self), store.topic)
    typeKeys.append(Self.key(E.self))
    pubsub_store_pointer(table.root, UnsafeRawPointer(tables[tables.count - 1]))
    return store
  }

  /// Makes a table of twice the size; the former one keeps its contents for its readers, until the bus goes.
  private func growTable() {
    let table = pubsub_make_table(tables.count + 6)
    for (key, store) in zip(typeKeys, stores) { pubsub_insert(table, key, store.topic) }
    tables.append(table)
  }
}

// MARK: - Owners and subjects that are gone

extension BusCore {
  /// Now and then cancels the subscriptions whose owner or subject is gone, as no other code may ever come across them.
  ///
  /// Constant time for each subscription, on average: as many have come since the last time as there were then.
  func sweepIfDue() {
    let expired = withLock { released -> [Registration] in
      untilSweep -= 1
      guard untilSweep <= 0 else { return [] }
      let all = registrations
      untilSweep = max(64, all.count)
      return all.filter { $0.isExpired(keeping: &released) }
    }
    for registration in expired { registration.cancel() }
  }

  /// The registrations of all subscriptions that are not plain; the caller holds the lock.
  var registrations: [Registration] {
    let typed = stores.flatMap { store in
      // Wildcards stand everywhere.
      store.standing.compactMap { $0.entry.registration.flatMap { $0.store == nil ? nil : $0 } }
    }
    return typed + wildcards.map(\.registration)
  }
}

// MARK: - Identifiers and observers

extension BusCore {
  /// Whether posts of types without subscribers are seen: by a tracer, a wildcard subscription or one to `Undelivered`.
  var canBeHeardByAll: Bool { seesEveryPost.load(ordering: .acquiring) }

  /// Whether a tracer is to see each post, or a subscription is to know which has no receiver.
  var isWatched: Bool { hasObservers.load(ordering: .relaxed) }

  /// Takes the next identifier, before its handler stands anywhere; the caller holds the lock.
  ///
  /// A subscription that received one post must not miss the next, whichever way that takes.
  func take(_ id: UInt64) { lastID.store(id, ordering: .releasing) }

  /// Whether there is a tracer or a subscription to `Undelivered`; the caller holds the lock.
  ///
  /// One to all events is none: it receives every event, so that none is undelivered.
  private var isObserved: Bool {
    guard let undelivered else { return false }
    let toAll = wildcards.count { $0.name == nil && $0.registration.subjectAddress == nil }
    return undelivered.standing.count > toAll || !tracers.withLock { $0.isEmpty }
  }

  /// Sends posts the way on which observers see them, while there are any; the caller holds the lock.
  func followObservers() {
    let isObserved = isObserved
    if isObserved != wasObserved { for store in stores { store.setGeneral(isObserved) } }
    wasObserved = isObserved
    hasObservers.store(isObserved, ordering: .releasing)
    seesEveryPost.store(!wildcards.isEmpty || isObserved, ordering: .releasing)
  }
}
