internal import CPubSub

/// The handlers of one event type, in a form that a post reads without a lock.
///
/// The root is a single buffer while there is one priority and no subject, which is nearly always, and a directory once
/// there was more. Writers hold the bus's lock; all but ``topic`` and what posting needs is theirs. What a writer takes out
/// is retired, and freed when no post that could see it is under way (``Retirement``).
class HandlerStore: @unchecked Sendable {
  /// What readers look at first.
  let topic: UnsafeMutablePointer<pubsub_topic>
  /// Keeps this store, and exists as long as a post is possible.
  var core: BusCore { unownedCore.takeUnretainedValue() }
  /// The same for code that counts no reference: subscribing and cancelling a closure would take a tenth longer.
  let unownedCore: Unmanaged<BusCore>
  let name: EventName
  let traits: EventTraits

  // Guarded by the lock. That they are accessed exclusively is proven by it: checked at each access, as variables of a class
  // are, it would cost as much as all else that subscribing does.

  @exclusivity(unchecked) var list = HandlerList()
  @exclusivity(unchecked) var subjects: [UnsafeRawPointer: SubjectEntry] = [:]
  @exclusivity(unchecked) var table: SubjectTable?
  /// How many keys the table has, with handlers or without.
  @exclusivity(unchecked) var tableCount = 0
  /// Stays set until no subscription is left: a buffer must not become the root a second time while a thread may read it.
  @exclusivity(unchecked) var usesDirectory = false
  /// The buffer of the last subscriptions, while there is none: no thread read it then, and none can.
  @exclusivity(unchecked) var spare: HandlerBuffer?
  /// What waits to be freed; nil, nearly always, if nothing does.
  @exclusivity(unchecked) var retirement: Retirement?
  /// Of the topic's flags those that tell of the retirement.
  @exclusivity(unchecked) var flags = 0
  /// Whether the core remembers that something waits here to be freed.
  @exclusivity(unchecked) var isUnclean = false
  /// How many handlers hold events: mailboxes, and buffers of sequences.
  @exclusivity(unchecked) private var receiverCount = 0
  /// How many subscriptions can end without being cancelled.
  @exclusivity(unchecked) private var tiedCount = 0

  /// Held while an event of a sticky type is kept and given to the receivers, so that all of them see one order.
  ///
  /// Taken after the bus's lock. Only the locks of receivers are taken while it is held.
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
    // The bus has cancelled every handler, and no post is possible on a bus that is gone.
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

  /// Sends every post the general way, or no longer, unless the event's traits ask for it anyway.
  func setGeneral(_ isGeneral: Bool) {
    guard traits.isEmpty else { return }
    if isGeneral {
      pubsub_set_bits(&topic.pointee.flags, Int(PUBSUB_GENERAL))
    } else {
      pubsub_clear_bits(&topic.pointee.flags, Int(PUBSUB_GENERAL))
    }
  }

  /// An event, for code that does not know its type.
  func event(at event: UnsafeRawPointer) -> any BusEvent { preconditionFailure("a store of no type") }

  /// Begins a post; one of a sticky type is kept, in the same instant.
  func inOrder(_ event: UnsafeRawPointer, from subject: (any AnyObject & Sendable)?, _ body: () -> Void) {
    preconditionFailure("a store of no type")
  }

  /// The handler by which a wildcard stands among this topic's.
  func handler(of wildcard: Wildcard) -> pubsub_handler { preconditionFailure("a store of no type") }
}

// MARK: - The order of receivers

extension HandlerStore {
  var isSticky: Bool { traits.contains(.sticky) }

  /// Does something while no other thread keeps an event, or gives it to the receivers.
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

  /// Counts a subscription in that comes, before its handler stands, or out.
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
    // The root may be gone while the table is kept for its present readers.
    if needsRoot || topic.pointee.root == nil { publish() }
  }

  /// Puts a handler in its place; true if readers have to be shown another buffer.
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

  /// Makes room for a key in the table; true if readers have to be shown another table.
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
