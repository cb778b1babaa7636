internal import CPubSub
internal import Scheduling
internal import Synchronization

/// The state of a bus: its topics by type, the wildcard subscriptions, and the writers' lock.
///
/// It lives as long as the bus, or any subscription, ``EventBus/Topic`` or tracer of it. A post finds its topic in a table that
/// only grows, and reads the handlers that ``HandlerStore`` publishes. So it needs the lock only to make a topic, to end a
/// subscription whose one event has come or whose owner or subject has been released, and, if it is free, for a writer that waits.
@usableFromInline
final class BusCore: @unchecked Sendable {
  private let lock = Guarded(())
  private let lastID = Atomic<UInt64>(0)
  /// Whether ``Garbage/endIdle(into:)`` is due, because a post has moved on from a cancelled handler.
  ///
  /// It is set without the lock; a thread that holds the lock looks at it after unlocking (``endIdleIfDue()``).
  private let endIdleIsDue = Atomic<Bool>(false)
  /// Whether there is a watcher: a tracer or a subscription to `Undelivered`.
  private let watched = Atomic<Bool>(false)
  /// Whether there is a watcher or a wildcard, so that the first post of a type may have a recipient, too.
  let seesEveryPost = Atomic<Bool>(false)
  /// The closures that are called with every post, in order; they do not count as subscribers.
  let tracers = Guarded<[(id: ObjectIdentifier, body: @Sendable (any EventBus.Event) -> Void)]>([])
  let failureObservers = Guarded<[FailureObserver]>([])
  /// The deadlines of waits on the bus's own clock.
  let deadlines: Deadlines
  /// The nesting limit of posts.
  let limit: Int

  /// The word that holds the address of the present table of topics by type, on a cache line of its own.
  let tableWord: TableWord
  typealias TableWord = UnsafeMutablePointer<UnsafeRawPointer?>

  // The lock guards these variables. So the compiler's exclusivity checks are switched off (see HandlerStore).
  @exclusivity(unchecked) var sites = SiteTable()
  @exclusivity(unchecked) private var tables: [UnsafeMutablePointer<pubsub_table>]
  @exclusivity(unchecked) private(set) var stores: [HandlerStore] = []
  @exclusivity(unchecked) var wildcards: [Wildcard] = []
  @exclusivity(unchecked) private var undelivered: HandlerStore?
  /// The number of subscriptions with an owner or a subject that may be made before the next sweep.
  @exclusivity(unchecked) private var untilSweep = 64
  @exclusivity(unchecked) var garbage = Garbage()

  /// A closure that is called with every failure of the program's code; it does not count as a subscriber.
  struct FailureObserver: Sendable {
    let reference: LightReference
    var owner: (any AnyObject & Sendable)? { reference.object }
    let body: @Sendable (EventBus.HandlerFailure) -> Void
  }

  init(limit: Int, deadlines: Deadlines) {
    (self.limit, self.deadlines) = (limit, deadlines)
    tables = [pubsub_make_table(6)]
    let line = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 128)
    tableWord = line.initializeMemory(as: UnsafeRawPointer?.self, to: UnsafeRawPointer(tables[0]))
    _ = Self.helpersAreSet
    // Make this store now: whether `Undelivered` has subscribers decides which path the posts of each later store take.
    undelivered = store(of: EventBus.Undelivered.self).takeUnretainedValue()
  }

  deinit {
    // With the lock for ThreadSanitizer alone, which does not see that the last release comes after every writer.
    lock.withLock { _ in
      for store in stores { store.free() }
      garbage.freeAll()
    }
    for table in tables { pubsub_free(table) }
    tableWord.deallocate()
  }

  /// The identifier that the next subscription will have.
  var nextID: UInt64 { lastID.load(ordering: .acquiring) + 1 }
}

// MARK: - The lock

extension BusCore {
  /// Runs a writer's work under the lock; afterward, without the lock, releases what the writer removed.
  func withLock<Result>(_ body: (inout Released) -> Result) -> Result {
    var released = Released()
    // The result leaves through a variable: as the closure's result it would have to be `sending`.
    var result: Result?
    Hook.lock(PUBSUB_LOCKS, of: self)
    lock.withLock { _ in result = body(&released) }
    Hook.lock(PUBSUB_HAS_UNLOCKED, of: self)
    finish(released)
    return result.unsafelyUnwrapped
  }

  private func finish(_ released: Released) {
    Hook.step("lock: look what is owed")
    // First: what is released may run the program's code, which may wait for a drain.
    endIdleIfDue()
    released.finish()
  }

  /// Ends what waits for handlers that no longer run; a post calls this when it has moved on from such a handler.
  ///
  /// Never waits for the lock: its holder looks again once it has unlocked. That the look stays behind the unlocking is not the
  /// language's promise; x86-64 and arm64 keep this order. `report_move` in CPubSub.c relies on the sequentially consistent store.
  func housekeep() {
    endIdleIsDue.store(true, ordering: .sequentiallyConsistent)
    endIdleIfDue()
  }

  private func endIdleIfDue() {
    if !endIdleIsDue.load(ordering: .sequentiallyConsistent) { return }
    Hook.step("housekeep: try the lock")
    var released = Released()
    let wasFree: Void? = lock.withLockIfAvailable { _ in
      Hook.lock(PUBSUB_HAS_LOCKED, of: self)
      endIdleIsDue.store(false, ordering: .sequentiallyConsistent)
      garbage.endIdle(into: &released)
    }
    if wasFree == nil { return }
    Hook.lock(PUBSUB_HAS_UNLOCKED, of: self)
    finish(released)
  }
}

// MARK: - Topics

extension BusCore {
  /// Returns the topic of a type, and makes it if there is none; the core keeps it.
  @inline(__always)
  func topic<E: EventBus.Event>(of type: E.Type) -> UnsafeMutablePointer<pubsub_topic> {
    knownTopic(of: type) ?? makeTopic(of: type)
  }

  /// Returns the topic of a type; nil if no subscription or post has made it yet.
  @inline(__always)
  func knownTopic(of type: Any.Type) -> UnsafeMutablePointer<pubsub_topic>? {
    pubsub_find(tableWord, Self.key(of: type))
  }

  /// Returns the topic of a type, if it is in the first cell that the search probes; else nil.
  @inline(__always)
  static func topicAtOnce(of type: Any.Type, in table: TableWord) -> UnsafeMutablePointer<pubsub_topic>? {
    pubsub_find_at_once(table, key(of: type))
  }

  @inline(__always)
  static func key(of type: Any.Type) -> UnsafeRawPointer { unsafeBitCast(type, to: UnsafeRawPointer.self) }

  /// Makes the topic of a type, unless another thread has made it meanwhile.
  @inline(never)
  private func makeTopic<E: EventBus.Event>(of type: E.Type) -> UnsafeMutablePointer<pubsub_topic> {
    // Without the lock: the getters of the program's type may call the bus.
    let store = TopicStore<E>(in: self)
    let topic = withLock { released in
      if let topic = knownTopic(of: type) { return topic }
      enter(store, &released)
      return store.topic
    }
    if topic != store.topic { store.free() }
    return topic
  }

  /// Adds a store, with all wildcard handlers; the caller holds the lock.
  private func enter(_ store: HandlerStore, _ released: inout Released) {
    // Not `shouldBeWatched`, which may differ for a moment: one tracer has left the list, and waits for this lock. If another one
    // enters before the `followWatchers` of the first, that finds `true` as before, and would never set the flag here.
    if isWatched { store.setGeneral(true) }
    for wildcard in wildcards { insert(wildcard, into: store, &released) }
    stores.append(store)
    // Keep the table at most a quarter full, so that nearly every topic is in the first place that a search probes.
    let present = tables[tables.count - 1]
    if stores.count * 4 <= pubsub_table_capacity(present) {
      pubsub_insert(present, store.typeKey, store.topic)
    } else {
      // The former table stays unchanged for its readers until the core is released.
      let next = pubsub_make_table(tables.count + 6)
      for store in stores { pubsub_insert(next, store.typeKey, store.topic) }
      tables.append(next)
      pubsub_publish(tableWord, UnsafeRawPointer(next))
    }
  }
}

// MARK: - Released owners and subjects

extension BusCore {
  /// Cancels the subscriptions whose owner or subject has been released, which no other code may ever find.
  ///
  /// A sweep, which looks at all handlers, is due when as many subscriptions with an owner or a subject have been made since the last
  /// one as there were handlers then, and at least 64. So the sweeps cost constant time per subscription, on average.
  func sweepIfDue(after registration: Registration) {
    if !registration.isTied { return }
    let expired = withLock { released -> [Registration] in
      untilSweep -= 1
      guard untilSweep <= 0 else { return [] }
      let all = registrations
      untilSweep = max(64, stores.reduce(0) { $0 + $1.living.count })
      return all.filter { $0.isExpired(releasingLater: { released.add($0) }) }
    }
    for registration in expired { registration.cancel() }
  }

  /// The registrations of all subscriptions that are not plain; the caller holds the lock.
  var registrations: [Registration] {
    let typed = stores.flatMap { store in
      // A wildcard is in every matching store; it is added once, below.
      store.living.compactMap { $0.registration.flatMap { $0.store == nil ? nil : $0 } }
    }
    return typed + wildcards.map(\.registration)
  }
}

// MARK: - Identifiers and watchers

extension BusCore {
  /// Whether every store sends its posts through the general path, because there was a watcher at the last ``followWatchers()``.
  var isWatched: Bool { watched.load(ordering: .relaxed) }

  /// Uses the next identifier; the caller holds the lock, and then adds the handler.
  ///
  /// Before the handler is added, never after: a post on the fast path may call the handler as soon as it is added. A post on the
  /// general path that begins later would read an identifier that is too low, and skip the handler.
  func useID(_ id: UInt64) { lastID.store(id, ordering: .releasing) }

  /// Whether there is a watcher; the caller holds the lock.
  ///
  /// A subscription to all events does not count: it receives every event. One to a subject does not, either: the bus
  /// posts `Undelivered` without a subject.
  private var shouldBeWatched: Bool {
    (undelivered?.watcherCount ?? 0) > 0 || !tracers.withLock { $0.isEmpty }
  }

  /// Sets the flags that send posts through the general path while there are watchers.
  ///
  /// The caller holds the lock, and has changed the tracers, the wildcards or the subscriptions to `Undelivered`.
  func followWatchers() {
    let isWatchedNow = shouldBeWatched
    if isWatchedNow != isWatched { for store in stores { store.setGeneral(isWatchedNow) } }
    watched.store(isWatchedNow, ordering: .releasing)
    seesEveryPost.store(!wildcards.isEmpty || isWatchedNow, ordering: .releasing)
  }
}
