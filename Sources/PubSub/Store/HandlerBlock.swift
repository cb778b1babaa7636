internal import CPubSub

/// The handlers of a list in the order of delivery, in one block of memory: by priority, highest first, and then by
/// identifier.
///
/// A published block changes in these ways only: a handler that comes last is appended; a cancelled handler's function is
/// replaced by one that does nothing, and the end falls if it was the last. No index is given away
/// twice. Every other change makes a new block. Writers hold the bus's lock.
struct HandlerBlock {
  /// The identity of a handler: its identifier and priority, with its site or its registration.
  ///
  /// A subscription to one type without owner, subject, label, receiver and `once` is *plain*: it has a site. Any other has a
  /// registration.
  struct Entry {
    /// The number of bits of an identifier; subscribing without a pause would take years to use them up.
    static let idBits = 48

    private let entry: pubsub_entry

    private init(_ id: UInt64, _ flags: Int32, _ info: UnsafeRawPointer, _ priority: EventBus.Priority) {
      precondition(id >> Self.idBits == 0, "this bus has used all subscription identifiers")
      entry = pubsub_entry(word: id << 16 | UInt64(flags), info: info, priority: priority.rawValue)
    }

    /// Makes the entry of a plain subscription; the bus keeps the site alive.
    init(id: UInt64, site: Unmanaged<Site>, _ priority: EventBus.Priority) {
      self.init(id, 0, site.toOpaque(), priority)
    }

    /// Makes the entry of any other subscription; it retains the registration, once for all copies, until the handler is cancelled
    /// and does not run.
    init(_ registration: Registration, isAsynchronous: Bool) {
      let flags = PUBSUB_REGISTERED | (isAsynchronous ? PUBSUB_ASYNCHRONOUS : 0)
      self.init(registration.id, flags, Unmanaged.passRetained(registration).toOpaque(), registration.priority)
    }

    var id: UInt64 { entry.word >> 16 }
    var priority: Int { entry.priority }
    var isAsynchronous: Bool { entry.word & UInt64(PUBSUB_ASYNCHRONOUS) != 0 }
    /// The registration, which may have been released once the handler is cancelled; nil if the subscription is plain.
    var registration: Registration? {
      guard entry.word & UInt64(PUBSUB_REGISTERED) != 0, let info = entry.info else { return nil }
      return Unmanaged.fromOpaque(info).takeUnretainedValue()
    }
    /// The site, which lives at least as long as a post is at the handler.
    var site: Unmanaged<Site> {
      let info = entry.info.unsafelyUnwrapped
      if entry.word & UInt64(PUBSUB_REGISTERED) != 0 {
        return Unmanaged<Registration>.fromOpaque(info)._withUnsafeGuaranteedRef { .passUnretained($0.site) }
      }
      return .fromOpaque(info)
    }
    var subscriber: EventBus.Subscriber { site._withUnsafeGuaranteedRef { $0.subscriber } }
  }

  let base: UnsafeMutablePointer<pubsub_block>

  init(at address: UnsafeRawPointer) {
    base = UnsafeMutableRawPointer(mutating: address).assumingMemoryBound(to: pubsub_block.self)
  }

  init(capacity: Int) {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: pubsub_block_size(capacity), alignment: 16)
    base = memory.initializeMemory(as: pubsub_block.self, to: pubsub_block())
    base.pointee.capacity = capacity
  }

  var capacity: Int { base.pointee.capacity }
  var size: Int { pubsub_block_size(capacity) }
  /// The number of handlers, including cancelled ones.
  private(set) var used: Int {
    get { base.pointee.used }
    nonmutating set { base.pointee.used = newValue }
  }
  /// The number of handlers that posts read.
  private(set) var end: Int {
    get { pubsub_end(base) }
    nonmutating set { pubsub_set_end(base, newValue) }
  }

  var handlers: UnsafeMutablePointer<pubsub_handler> {
    (UnsafeMutableRawPointer(base) + MemoryLayout<pubsub_block>.size).assumingMemoryBound(to: pubsub_handler.self)
  }

  var entries: UnsafeMutablePointer<Entry> {
    UnsafeMutableRawPointer(pubsub_entries(base)).assumingMemoryBound(to: Entry.self)
  }

  func isCancelled(at index: Int) -> Bool { handlers[index].function == pubsub_cancelled() }

  /// The indices of the handlers that have not been cancelled.
  var living: some Sequence<Int> { (0..<used).lazy.filter { !isCancelled(at: $0) } }

  func canAppend(_ priority: Int) -> Bool {
    let used = used
    return used < capacity && (used == 0 || entries[used - 1].priority >= priority)
  }

  /// Appends a handler; posts under way do not see it.
  func append(_ handler: pubsub_handler, _ entry: Entry) {
    put(handler, entry)
    Hook.step("append: show the handler")
    end = used
  }

  /// Puts a handler behind the others; posts do not read it before the end is raised.
  private func put(_ handler: pubsub_handler, _ entry: Entry) {
    let index = used
    (handlers[index], entries[index]) = (handler, entry)
    if handler.function == pubsub_owned_call() { pubsub_note_owners(base) }
    used = index + 1
  }

  /// Replaces a handler by one that does nothing.
  ///
  /// The latest subscriber is often the first to cancel, again and again. So posts no longer read the last handler once
  /// it is cancelled, nor up to 32 cancelled ones before it.
  func cancel(at index: Int) {
    Hook.step("cancel: put nothing in the handler's place")
    pubsub_cancel(handlers + index)
    guard index == end - 1 else { return }
    var end = index
    while end > max(0, index - 32), isCancelled(at: end - 1) { end -= 1 }
    self.end = end
  }

  /// Returns the index of the handler with an identifier, also of a cancelled one beyond ``end``; nil if there is none.
  ///
  /// - Complexity: logarithmic in the number of handlers, for each priority.
  func index(of id: UInt64) -> Int? {
    let (entries, used) = (entries, used)
    // The latest subscriber is often the first to cancel.
    if used > 0, entries[used - 1].id == id { return used - 1 }
    var first = 0
    while first < used {
      // The handlers of one priority, in which identifiers rise; most blocks have only one.
      let priority = entries[first].priority
      let isLast = entries[used - 1].priority == priority
      let last = isLast ? used : Self.first(in: first..<used) { entries[$0].priority < priority }
      let index = Self.first(in: first..<last) { entries[$0].id >= id }
      if index < last, entries[index].id == id { return index }
      first = last
    }
    return nil
  }

  /// Returns the first index of a range for which a condition holds, as for all later ones; the upper bound if there is
  /// none.
  @inline(__always)
  private static func first(in range: Range<Int>, where condition: (Int) -> Bool) -> Int {
    var (low, count) = (range.lowerBound, range.count)
    while count > 0 {
      let half = count / 2
      if condition(low + half) {
        count = half
      } else {
        low += half + 1
        count -= half + 1
      }
    }
    return low
  }

  /// Returns a new block with the living handlers and, if there is one, a new handler at its place in the order, with room for half
  /// as many more; `count` is the number of all.
  func copy(_ count: Int, adding new: (handler: pubsub_handler, entry: Entry)? = nil) -> HandlerBlock {
    let copy = HandlerBlock(capacity: count + count / 2 + 4)
    var new = new
    for index in living {
      if let added = new, entries[index].priority < added.entry.priority {
        copy.put(added.handler, added.entry)
        new = nil
      }
      copy.put(handlers[index], entries[index])
    }
    if let new { copy.put(new.handler, new.entry) }
    copy.end = copy.used
    return copy
  }
}
