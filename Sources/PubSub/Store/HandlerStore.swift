internal import CPubSub
internal import Scheduling

/// The handlers of one event type, which posts read without a lock.
///
/// The root points to a single buffer while all handlers have one priority and no subject, as in most topics. Otherwise
/// it points to a directory. Writers hold the bus's lock. Only writers access the variables below; posts access
/// ``topic`` and the constants. A writer retires the memory that it removes, and it is freed when no post that could
/// read it is under way (``Retirement``).
class HandlerStore: @unchecked Sendable {
  /// The topic, which readers read first.
  let topic: UnsafeMutablePointer<pubsub_topic>
  /// The core, which keeps this store alive; it lives as long as a post is possible.
  var core: BusCore { unownedCore.takeUnretainedValue() }
  /// The core without reference counting, which would make subscribing and cancelling a closure a tenth slower.
  let unownedCore: Unmanaged<BusCore>
  let name: EventName
  let traits: EventTraits

  // The bus's lock guards these variables and so proves exclusive access. The compiler's check at each access would
  // cost as much as everything else that subscribing does.

  @exclusivity(unchecked) var list = HandlerList()
  @exclusivity(unchecked) var subjects: [UnsafeRawPointer: SubjectEntry] = [:]
  @exclusivity(unchecked) var table: SubjectTable?
  /// The number of keys in the table, including keys without handlers.
  @exclusivity(unchecked) var tableCount = 0
  /// Whether the root points to a directory.
  ///
  /// It stays true until no subscription is left. Otherwise a buffer could become the root a second time while a thread
  /// still reads it.
  @exclusivity(unchecked) var usesDirectory = false
  /// The buffer of the last subscription, kept for the next one while there is none; no thread reads it or can find it.
  @exclusivity(unchecked) var spare: HandlerBuffer?
  /// The garbage that waits to be freed; usually nil if there is none.
  @exclusivity(unchecked) var retirement: Retirement?
  /// The topic's flags for the retirement, as last set: `PUBSUB_RECLAIM` and `PUBSUB_URGENT`.
  @exclusivity(unchecked) var flags = 0
  /// Whether the core's list `unclean` contains this store.
  @exclusivity(unchecked) var isUnclean = false
  /// The number of receivers: mailboxes, and buffers of sequences.
  @exclusivity(unchecked) private var receiverCount = 0
  /// The number of subscriptions with an owner or a subject, which can end without being cancelled.
  @exclusivity(unchecked) private var tiedCount = 0

  /// The lock that is held while an event of a sticky type is stored as the latest and given to the receivers, so that
  /// all of them see one order.
  ///
  /// Lock order: after the bus's lock, before the locks of receivers. No other lock is taken while it is held.
  private let order = Lock()

  init(name: EventName, traits: EventTraits, in core: BusCore, limit: Int) {
    unownedCore = .passUnretained(core)
    self.name = name
    self.traits = traits
    topic = pubsub_make_topic(limit)
    topic.pointee.owner = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    if !traits.isEmpty { topic.pointee.flags |= Int(PUBSUB_GENERAL) }
  }

  deinit {
    // The bus has cancelled every handler, and after its release no post is possible.
    var released = Released()
    retirement?.reclaim(into: &released)
    spare?.deallocate()
    for segment in list.segments { segment.buffer.deallocate() }
    if let root = topic.pointee.root, pubsub_is_directory(root) { Directory(root: root).deallocate() }
    for entry in subjects.values {
      for segment in entry.list.segments { segment.buffer.deallocate() }
      entry.published?.deallocate()
    }
    table?.deallocate()
    pubsub_free(topic)
    released.finish()
  }

  /// Sends every post through the general path, or ends that.
  ///
  /// A type with traits always uses the general path.
  func setGeneral(_ isGeneral: Bool) {
    guard traits.isEmpty else { return }
    if isGeneral {
      pubsub_set_bits(&topic.pointee.flags, Int(PUBSUB_GENERAL))
    } else {
      pubsub_clear_bits(&topic.pointee.flags, Int(PUBSUB_GENERAL))
    }
  }

  /// Returns the event at an address, for code that does not know its type.
  func event(at event: UnsafeRawPointer) -> any BusEvent { preconditionFailure("a subclass must override this method") }

  /// Runs `body`, which begins a post.
  ///
  /// For a sticky type it atomically also stores the event as the latest.
  func inOrder(_ event: UnsafeRawPointer, from subject: (any AnyObject & Sendable)?, _ body: () -> Void) {
    preconditionFailure("a subclass must override this method")
  }

  /// Makes the handler that calls a wildcard's closure with an event of this topic.
  func handler(of wildcard: Wildcard) -> pubsub_handler { preconditionFailure("a subclass must override this method") }
}

// MARK: - The order of receivers

extension HandlerStore {
  var isSticky: Bool { traits.contains(.sticky) }

  /// Runs `body` under the order lock: no other thread stores the latest event, or gives it to receivers, at the same
  /// time.
  func withOrder<Result>(_ body: () -> Result) -> Result {
    var result: Result?
    Hook.locks(self)
    order.withLock { result = body() }
    Hook.hasUnlocked(self)
    return result.unsafelyUnwrapped
  }

  private func countReceivers(_ change: Int) {
    receiverCount += change
    let flag = Int(PUBSUB_RECEIVERS)
    if receiverCount == 0 {
      pubsub_clear_bits(&topic.pointee.flags, flag)
    } else if receiverCount == change {
      pubsub_set_bits(&topic.pointee.flags, flag)
    }
  }

  /// Counts a subscription, with 1 before its handler is added, or with -1 when it is cancelled.
  func count(_ entry: HandlerBuffer.Entry, _ change: Int) {
    guard let registration = entry.registration else { return }
    if entry.isAsynchronous { countReceivers(change) }
    if registration.isTied { tiedCount += change }
  }

  var hasTied: Bool { tiedCount > 0 }
}

// MARK: - Adding

extension HandlerStore {
  /// Adds a handler; posts under way do not see it.
  ///
  /// - Complexity: constant on average, unless it is the first of its priority.
  func add(
    _ handler: pubsub_handler, _ entry: HandlerBuffer.Entry, _ priority: Priority, from subject: AnyObject? = nil,
    into released: inout Released
  ) {
    count(entry, 1)
    if let subject {
      add(handler, entry, priority, from: subject, &released)
    } else if place(handler, entry, priority, in: &list, &released) {
      publish()
    }
    if retirement?.isDue == true { reclaim(into: &released) }
  }

  private func add(
    _ handler: pubsub_handler, _ entry: HandlerBuffer.Entry, _ priority: Priority, from subject: AnyObject,
    _ released: inout Released
  ) {
    let key = UnsafeRawPointer(Unmanaged.passUnretained(subject).toOpaque())
    let known = subjects[key]
    let subjectEntry = known ?? SubjectEntry(subject)
    if known == nil { subjects[key] = subjectEntry }
    let isChanged = place(handler, entry, priority, in: &subjectEntry.list, &released)
    let needsRoot = known == nil && makeRoom(for: key)
    if isChanged { publish(subjectEntry, key) }
    // The root may be nil although the table still exists for its present readers.
    if needsRoot || topic.pointee.root == nil { publish() }
  }

  /// Adds a handler to a list; returns true if the caller must publish another buffer.
  private func place(
    _ handler: pubsub_handler, _ entry: HandlerBuffer.Entry, _ priority: Priority, in list: inout HandlerList,
    _ released: inout Released
  ) -> Bool {
    let (index, exists) = list.index(of: priority.rawValue)
    guard exists else {
      let buffer = spare.take() ?? HandlerBuffer(capacity: 4, priority: priority.rawValue)
      buffer.begin(priority.rawValue)
      buffer.append(handler, entry)
      list.segments.insert(.init(buffer: buffer, living: 1), at: index)
      return true
    }
    let buffer = list.segments[index].buffer
    guard buffer.isFull else {
      buffer.append(handler, entry)
      list.segments[index].living += 1
      return false
    }
    let living = list.segments[index].living - cancelExpired(in: buffer, &released) + 1
    let copy = buffer.copy(living: living)
    copy.append(handler, entry)
    list.segments[index].living = living
    list.segments[index].buffer = copy
    retire(.buffer(buffer))
    return true
  }

  /// Makes room for a key in the table; returns true if the caller must publish another table.
  private func makeRoom(for key: UnsafeRawPointer) -> Bool {
    if let table, table.contains(key) { return false }
    if let table, (tableCount + 1) * 2 <= table.capacity {
      tableCount += 1
      return false
    }
    var bits = 3
    while (1 << bits) < 4 * subjects.count { bits += 1 }
    let new = SubjectTable(bits: bits)
    tableCount = 1
    for (other, entry) in subjects {
      guard let published = entry.published else { continue }
      new.set(other, published)
      tableCount += 1
    }
    if let table { retire(.table(table)) }
    table = new
    return true
  }
}
