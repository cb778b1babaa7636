internal import CPubSub
internal import Scheduling

/// The handlers of one event type, which posts read without a lock: a list of the handlers without a subject,
/// and one for each subject.
///
/// Writers hold the bus's lock. Only they access the variables below; posts access ``topic``, the constants and the lock of sticky
/// posts.
class HandlerStore: @unchecked Sendable {
  let topic: UnsafeMutablePointer<pubsub_topic>
  /// The core, which keeps this store alive; it lives as long as a post is possible.
  var core: BusCore { unownedCore.takeUnretainedValue() }
  /// The core without reference counting, which would make subscribing and cancelling a tenth slower.
  let unownedCore: Unmanaged<BusCore>
  /// The key of the topic in the bus's table.
  let typeKey: UnsafeRawPointer
  let name: EventName
  let isSticky: Bool
  let isReversed: Bool
  /// The kind of report that the events are; nil if they are none.
  let reportKind: SelfReport?

  // The bus's lock guards these variables and so proves exclusive access. The compiler's check at each access would
  // cost as much as everything else that subscribing does.

  let list: HandlerList
  /// The lists by the address of their subject; one without handlers stays until the next table.
  @exclusivity(unchecked) private var subjects: [UnsafeRawPointer: HandlerList] = [:]
  /// The numbers of receivers (mailboxes, and buffers of sequences), and of handlers of one subject.
  @exclusivity(unchecked) private var (receiverCount, subjectCount) = (0, 0)
  /// The number of subscriptions to `Undelivered`, in its store, that are neither to all events nor to one subject.
  @exclusivity(unchecked) private(set) var watcherCount = 0

  /// The sticky lock: it is held while a sticky event is stored as the latest and given to the receivers, so that all see one
  /// order.
  ///
  /// Lock order: after the bus's lock, before the locks of receivers. The bus takes no other lock under it. To note inside which
  /// report an event was posted (``SelfReport/enclosing``), a mailbox asks another module whether the present task's work has
  /// ended (``AwaitedWork/isUnderWay``); the answer must take no lock, either.
  private let stickyLock = Guarded(())

  init<E: EventBus.Event>(of type: E.Type, in core: BusCore) {
    unownedCore = .passUnretained(core)
    (typeKey, reportKind) = (BusCore.key(of: type), SelfReport(type))
    (name, isSticky, isReversed) = (E.name, type is any StickyEvent.Type, E.isReversed)
    topic = pubsub_make_topic(core.limit)
    list = HandlerList(at: UnsafeMutableRawPointer(topic).assumingMemoryBound(to: UnsafeRawPointer?.self))  // the root
    topic.pointee.store = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    if isAlwaysGeneral { topic.pointee.flags |= Int(PUBSUB_GENERAL) }
  }

  /// Frees the memory of a store that no post can reach: the bus was released, and has cancelled every handler, or another thread
  /// has made the store of the type first.
  func free() {
    list.block?.base.deallocate()
    for list in subjects.values { list.block?.base.deallocate() }
    pubsub_free(topic.pointee.subjects)
    pubsub_free(topic)
  }

  /// Sets or clears the flag that sends every post through the general path; a sticky or reversed type always has it.
  func setGeneral(_ isGeneral: Bool) { if !isAlwaysGeneral { set(Int(PUBSUB_GENERAL), isGeneral) } }

  private var isAlwaysGeneral: Bool { isSticky || isReversed }

  private func set(_ flag: Int, _ isSet: Bool) {
    if isSet { pubsub_set_bits(&topic.pointee.flags, flag) } else { pubsub_clear_bits(&topic.pointee.flags, flag) }
  }

  /// Returns the event at an address, for code that does not know its type.
  func event(at event: UnsafeRawPointer) -> any EventBus.Event {
    preconditionFailure("a subclass must override this method")
  }

  /// Runs `body`, in which a post begins; for a sticky type, stores the event as the latest one in the same critical section.
  ///
  /// `body` gets the number of the change of the latest event; 0 for a type that is not sticky.
  func keepLatest(_ event: UnsafeRawPointer, from subject: (any AnyObject & Sendable)?, _ body: (Int) -> Void) {
    preconditionFailure("a subclass must override this method")
  }

  /// Removes the latest event of a sticky type, and those of all subjects, and returns the number of the change.
  ///
  /// For good at the end of the bus, as a ``Topic`` may still post.
  @discardableResult
  func removeLatest(forGood isLast: Bool = false) -> Int { preconditionFailure("a subclass must override this method") }

  /// Makes the handler that calls a wildcard's closure with an event of this topic.
  func handler(of wildcard: Wildcard) -> pubsub_handler { preconditionFailure("a subclass must override this method") }

  func underStickyLock<Result>(_ body: () -> Result) -> Result {
    var result: Result?
    Hook.lock(PUBSUB_LOCKS, of: self)
    stickyLock.withLock { _ in result = body() }
    Hook.lock(PUBSUB_HAS_UNLOCKED, of: self)
    return result.unsafelyUnwrapped
  }
}

// MARK: - Adding and cancelling

extension HandlerStore {
  /// Adds a handler; posts under way do not see it.
  func add(
    _ handler: pubsub_handler, _ entry: HandlerBlock.Entry, from subject: AnyObject? = nil, _ garbage: inout Garbage
  ) {
    // Count first: a post that finds the handler must find the flags, unless it began before. Such a post on the fast path
    // calls the receiver's function, which does nothing (`pubsub_receiving`).
    count(entry, 1, ofSubject: subject != nil)
    guard let subject else { return list.add(handler, entry, &garbage) }
    let key = UnsafeRawPointer(Unmanaged.passUnretained(subject).toOpaque())
    let list = subjects[key] ?? HandlerList(at: enter(key, &garbage))
    subjects[key] = list
    list.add(handler, entry, &garbage)
  }

  /// Cancels a subscription, if this store has it.
  func remove(
    _ id: UInt64, from subject: UnsafeRawPointer? = nil, _ garbage: inout Garbage, into released: inout Released
  ) {
    // Not by one expression for both, which would count a reference more.
    guard let subject else { return remove(id, in: list, ofSubject: false, &garbage, into: &released) }
    if let list = subjects[subject] { remove(id, in: list, ofSubject: true, &garbage, into: &released) }
  }

  private func remove(
    _ id: UInt64, in list: HandlerList, ofSubject: Bool, _ garbage: inout Garbage, into released: inout Released
  ) {
    guard let index = list.index(of: id), let block = list.block else { return }
    let (handler, entry) = (block.handlers + index, block.entries[index])
    let captured = Captured(by: handler.pointee, entry)
    // Posts under way may read former blocks.
    let others = garbage.retiredHandlers(id)
    for other in others { pubsub_cancel(other) }
    list.cancel(at: index)
    // Before the block may be freed: its address tells whether the handler runs.
    if !captured.isEmpty { garbage.release(captured, of: handler, others, into: &released) }
    list.shrink(&garbage)
    count(entry, -1, ofSubject: ofSubject)
  }

  /// The address of a handler, cancelled or not, in the present block.
  func address(of id: UInt64, from subject: UnsafeRawPointer?) -> UnsafeRawPointer? {
    guard let block = list(of: subject)?.block, let index = block.index(of: id) else { return nil }
    return UnsafeRawPointer(block.handlers + index)
  }

  /// All subscriptions that are not cancelled, in no particular order.
  var living: [HandlerBlock.Entry] { subjects.values.flatMap(\.living) + list.living }

  private func list(of subject: UnsafeRawPointer?) -> HandlerList? {
    if let subject { subjects[subject] } else { list }
  }

  private func count(_ entry: HandlerBlock.Entry, _ change: Int, ofSubject: Bool) {
    if entry.isAsynchronous { adjust(&receiverCount, by: change, Int(PUBSUB_RECEIVERS)) }
    if ofSubject { adjust(&subjectCount, by: change, Int(PUBSUB_SUBJECTS)) }
    if reportKind == .undelivered, !ofSubject, entry.registration?.isToAll != true {
      watcherCount += change
      core.followWatchers()
    }
  }

  /// Changes a count, and sets the flag that says whether it is above zero.
  private func adjust(_ count: inout Int, by change: Int, _ flag: Int) {
    let wasZero = count == 0
    count += change
    let isZero = count == 0
    if wasZero != isZero { set(flag, !isZero) }
  }

  // MARK: Subjects

  /// Enters a subject into the table of subjects or, if that is half full, into a new table, without the empty lists; returns the word
  /// of its block.
  private func enter(_ key: UnsafeRawPointer, _ garbage: inout Garbage) -> UnsafeMutablePointer<UnsafeRawPointer?> {
    let table = topic.pointee.subjects.map {
      UnsafeMutableRawPointer(mutating: $0).assumingMemoryBound(to: pubsub_table.self)
    }
    if let table, (subjects.count + 1) * 2 <= pubsub_table_capacity(table) { return pubsub_insert(table, key, nil) }
    let gone = subjects.filter { $0.value.isEmpty }
    for key in gone.keys { subjects[key] = nil }
    var bits = 3
    while 1 << bits < 4 * (subjects.count + 1) { bits += 1 }
    let new = pubsub_make_table(bits)
    for (key, list) in subjects { list.move(to: new, key) }
    let word = pubsub_insert(new, key, nil)
    // The cells of the former table keep their blocks. A post that finds one there looks whether this table has replaced it.
    pubsub_publish(&topic.pointee.subjects, new)
    for list in gone.values { list.free(&garbage) }
    if let table { garbage.retire(table) }
    return word
  }
}
