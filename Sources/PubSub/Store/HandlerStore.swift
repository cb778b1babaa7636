internal import CPubSub

/// Who subscribes to one event type, in a form that a post reads without a lock.
///
/// The root is a single buffer while there is one priority and no subject, which is nearly always, and a directory once
/// there was more. Writers hold the bus's lock; all but ``topic`` and what posting needs is theirs. What a writer takes out
/// is retired, and freed when no post that could see it is under way (``Retirement``).
class HandlerStore: @unchecked Sendable {
  /// What readers look at first.
  let topic: UnsafeMutablePointer<pubsub_topic>
  /// Keeps this store, and is there as long as anybody can post.
  unowned(unsafe) let core: BusCore
  let name: EventName
  let traits: EventTraits
  private var list = HandlerList()
  private var subjects: [UnsafeRawPointer: SubjectEntry] = [:]
  private var table: SubjectTable?
  /// How many keys the table has, with handlers or without.
  private var tableCount = 0
  /// Stays until nobody subscribes: a buffer must not become the root a second time while somebody may read it.
  private var usesDirectory = false
  private var retirement = Retirement()
  private var flags = 0

  init(name: EventName, traits: EventTraits, in core: BusCore, limit: Int) {
    self.core = core
    self.name = name
    self.traits = traits
    topic = pubsub_make_topic(limit)
    topic.pointee.owner = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    if !traits.isEmpty { topic.pointee.flags = Int(PUBSUB_GENERAL) }
  }

  deinit {
    // The bus has cancelled every handler, and nobody posts on a bus that is gone.
    var released = Released()
    retirement.reclaim(into: &released)
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

  /// Whether what was taken out is all freed.
  var isClean: Bool { retirement.isEmpty }

  /// Everybody who subscribes, in no order.
  var registrations: [Registration] {
    (subjects.values.map(\.list) + [list]).flatMap { list in
      list.segments.flatMap { segment in
        (0..<segment.buffer.count).filter { !segment.buffer.isCancelled(at: $0) }
          .map { segment.buffer.registrations[$0].takeUnretainedValue() }
      }
    }
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

  /// Told every event that is posted, before it is delivered; for what a typed store keeps and observers see.
  ///
  /// - Returns: the identifier of the first subscription that does not see this post.
  func willPost(_ event: UnsafeRawPointer, from subject: (any AnyObject & Sendable)?, in core: BusCore) -> UInt64 {
    core.nextID
  }

  /// Told an event that nobody received.
  func wasNotReceived(_ event: UnsafeRawPointer, in core: BusCore) {}

  /// The handler by which a wildcard stands among this topic's.
  func handler(of wildcard: Wildcard) -> pubsub_handler { preconditionFailure("a store of no type") }
}

// MARK: - Adding

extension HandlerStore {
  /// Adds a handler and keeps its registration; posts under way do not see it.
  ///
  /// - Complexity: constant on average, unless it is the first of its priority.
  func add(_ handler: pubsub_handler, _ registration: Registration, into released: inout Released) {
    if let subject = registration.subject {
      addToSubject(subject, handler, registration, &released)
    } else if place(handler, registration, in: &list, &released) {
      publish()
    }
    if !retirement.isEmpty { reclaim(into: &released) }
  }

  /// Puts a handler in its place; true if readers have to be shown another buffer.
  private func place(
    _ handler: pubsub_handler, _ registration: Registration, in list: inout HandlerList, _ released: inout Released
  ) -> Bool {
    let priority = registration.priority.rawValue
    let (index, exists) = list.index(of: priority)
    guard exists else {
      let buffer = HandlerBuffer(capacity: 4)
      buffer.append(handler, registration)
      list.segments.insert(.init(priority: priority, buffer: buffer, living: 1), at: index)
      return true
    }
    let buffer = list.segments[index].buffer
    guard buffer.isFull else {
      buffer.append(handler, registration)
      list.segments[index].living += 1
      return false
    }
    // Those whose owner is gone are swept out when there is no more room: the bus does not gather them.
    for place in 0..<buffer.count where !buffer.isCancelled(at: place) {
      guard buffer.registrations[place].takeUnretainedValue().isExpired(keeping: &released) else { continue }
      cancel(at: place, of: buffer, &released)
      list.segments[index].living -= 1
    }
    let copy = buffer.copy(living: list.segments[index].living + 1)
    copy.append(handler, registration)
    list.segments[index].living += 1
    list.segments[index].buffer = copy
    retirement.retire(.buffer(buffer))
    return true
  }

  private func addToSubject(
    _ subject: AnyObject, _ handler: pubsub_handler, _ registration: Registration, _ released: inout Released
  ) {
    let key = UnsafeRawPointer(Unmanaged.passUnretained(subject).toOpaque())
    let known = subjects[key]
    let entry = known ?? SubjectEntry(subject)
    if known == nil { subjects[key] = entry }
    let isChanged = place(handler, registration, in: &entry.list, &released)
    let needsRoot = known == nil && makeRoom(for: key)
    if isChanged { publish(entry, key) }
    // The root may be gone while the table is kept for those who still read it.
    if needsRoot || topic.pointee.root == nil { publish() }
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
    if let table { retirement.retire(.table(table)) }
    table = new
    return true
  }
}

// MARK: - Cancelling

extension HandlerStore {
  /// Cancels a handler, if it stands here.
  ///
  /// - Complexity: constant on average, whatever the order of cancelling, but for a binary search.
  func remove(_ registration: Registration, into released: inout Released) {
    if let key = registration.subjectAddress {
      guard let entry = subjects[key] else { return }
      if cancel(registration, in: &entry.list, &released) { publish(entry, key) }
    } else if cancel(registration, in: &list, &released) {
      publish()
    }
    if !retirement.isEmpty { reclaim(into: &released) }
    if retirement.isEmpty { reset() }
  }

  /// Cancels a handler in a list, if it stands there; true if readers have to be shown another buffer.
  private func cancel(_ registration: Registration, in list: inout HandlerList, _ released: inout Released) -> Bool {
    let (index, exists) = list.index(of: registration.priority.rawValue)
    guard exists else { return false }
    let buffer = list.segments[index].buffer
    guard let place = buffer.index(of: registration.id), !buffer.isCancelled(at: place) else { return false }
    cancel(at: place, of: buffer, &released)
    list.segments[index].living -= 1
    let living = list.segments[index].living
    if living == 0 {
      list.segments.remove(at: index)
      retirement.retire(.buffer(buffer))
      return true
    }
    // As many again may be cancelled before the living are moved together: constant time for each, on average.
    guard buffer.count > 2 * living + 16 else { return false }
    list.segments[index].buffer = buffer.copy(living: living)
    retirement.retire(.buffer(buffer))
    return true
  }

  private func cancel(at place: Int, of buffer: HandlerBuffer, _ released: inout Released) {
    let handler = buffer.handlers + place
    let context = handler.pointee.context
    pubsub_cancel_handler(handler)
    retirement.cancel(buffer.ids[place])
    // Readers never look at registrations.
    released.add(buffer.registrations[place])
    guard let context else { return }
    // Nearly always nobody reads, and what was captured goes at once.
    if retirement.isEmpty, !retirement.isRead() {
      released.add(context)
    } else {
      retirement.retire(.context(context))
    }
  }

  /// Once nobody subscribes and nobody reads, the topic begins anew.
  private func reset() {
    guard usesDirectory, topic.pointee.root == nil else { return }
    table?.deallocate()
    table = nil
    tableCount = 0
    usesDirectory = false
  }
}

// MARK: - Publishing and reclaiming

extension HandlerStore {
  /// Shows readers the present state.
  private func publish() {
    if list.segments.count > 1 || table != nil { usesDirectory = true }
    let root: UnsafeRawPointer? =
      if list.segments.isEmpty && subjects.isEmpty {
        nil
      } else if usesDirectory {
        list.directory(subjects: table).root
      } else {
        UnsafeRawPointer(list.segments[0].buffer.base)
      }
    if let former = topic.pointee.root, pubsub_is_directory(former) {
      retirement.retire(.directory(Directory(root: former)))
    }
    pubsub_store_pointer(&topic.pointee.root, root)
    retirement.didPublish(root)
  }

  /// Shows readers the present state of a subject.
  private func publish(_ entry: SubjectEntry, _ key: UnsafeRawPointer) {
    if let former = entry.published { retirement.retire(.directory(former)) }
    entry.published = entry.list.segments.isEmpty ? nil : entry.list.directory(subjects: nil)
    table?.set(key, entry.published)
    guard entry.published == nil else { return }
    subjects[key] = nil
    // With its last handler a subject may have been the last of all.
    if subjects.isEmpty, list.segments.isEmpty { publish() }
  }

  /// Frees what nobody can read any more, and sees to it that the rest will be.
  func reclaim(into released: inout Released) {
    retirement.reclaim(into: &released)
    if retirement.waitsForPresentRoot, retirement.roots < Self.mostRoots, retirement.presentRootIsRead() {
      replaceRoot()
    }
    setFlags()
  }

  /// So many roots may be read at once; more would cost memory without end while one handler does not return.
  private static let mostRoots = 8
  /// A buffer of so many handlers is copied rather than that every post to it looks what it could free.
  private static let cheapToCopy = 256

  /// Publishes the same handlers anew, so that whoever enters from now on does not delay what waits.
  private func replaceRoot() {
    guard topic.pointee.root != nil else { return }
    if !usesDirectory {
      let segment = list.segments[0]
      guard segment.buffer.count <= Self.cheapToCopy else { return }
      list.segments[0].buffer = segment.buffer.copy(living: segment.living)
      retirement.retire(.buffer(segment.buffer))
    }
    publish()
  }

  private func setFlags() {
    let wanted =
      retirement.isEmpty ? 0 : Int(PUBSUB_RECLAIM) | (retirement.waitsForPresentRoot ? Int(PUBSUB_URGENT) : 0)
    guard wanted != flags else { return }
    let added = wanted & ~flags
    let removed = flags & ~wanted
    flags = wanted
    if removed != 0 { pubsub_clear_bits(&topic.pointee.flags, removed) }
    if added != 0 { pubsub_set_bits(&topic.pointee.flags, added) }
  }
}

// MARK: - Waiting

extension HandlerStore {
  /// Calls once no post that could run a cancelled handler is under way.
  ///
  /// - Returns: false if none is, and the action was not taken.
  func whenUnread(_ action: @escaping @Sendable () -> Void, into released: inout Released) -> Bool {
    guard retirement.isRead() else { return false }
    retirement.retire(.action(action))
    replaceRoot()
    setFlags()
    // Who left before the flag could be seen does not look: after the barrier that is known, and whoever is left will.
    pubsub_barrier()
    retirement.reclaim(into: &released)
    setFlags()
    return true
  }

  /// Those who stand for a post from a subject, in the order of delivery.
  func standing(for subject: AnyObject?) -> [(registration: Registration, handler: pubsub_handler)] {
    let key = subject.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
    let lists = [list] + (key.flatMap { subjects[$0]?.list }.map { [$0] } ?? [])
    let standing = lists.flatMap { list in
      list.segments.flatMap { segment in
        let buffer = segment.buffer
        return (0..<buffer.count).filter { !buffer.isCancelled(at: $0) }
          .map { (buffer.registrations[$0].takeUnretainedValue(), buffer.handlers[$0]) }
      }
    }
    // One list is in order already; two are merged.
    let ordered =
      lists.count == 1
      ? standing
      : standing.sorted {
        $0.0.priority != $1.0.priority ? $0.0.priority > $1.0.priority : $0.0.id < $1.0.id
      }
    return traits.contains(.reversed) ? ordered.reversed() : ordered
  }
}
