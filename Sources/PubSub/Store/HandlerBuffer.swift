internal import CPubSub

/// The handlers of one priority, in order of subscription, in one block of memory.
///
/// Readers read the handlers before `end`. After the handlers, the block holds an entry for each, which identifies its
/// subscription. Identifiers rise, so a handler can be found by its identifier in every buffer that ever held it.
/// Writers hold the bus's lock. The buffer does not free itself: a writer retires a published buffer, and it is freed
/// when no thread reads it.
struct HandlerBuffer: Equatable {
  /// The identity of a handler: the subscription's identifier, and its site (plain subscriptions) or its registration
  /// (others).
  struct Entry {
    /// The number of bits of an identifier; subscribing without a pause would take years to use them up.
    static let idBits = 48

    private let place: pubsub_place

    private init(_ id: UInt64, _ flags: Int32, _ info: UnsafeRawPointer) {
      precondition(id >> Self.idBits == 0, "this bus has used all subscription identifiers")
      place = pubsub_place(word: id << 16 | UInt64(flags), info: info)
    }

    /// Makes the entry of a plain subscription; the bus keeps the site alive.
    init(id: UInt64, site: Unmanaged<Site>) { self.init(id, 0, site.toOpaque()) }

    /// Makes the entry of any other subscription; the entry retains the registration.
    init(_ registration: Registration, isAsynchronous: Bool) {
      let flags = PUBSUB_REGISTERED | (isAsynchronous ? PUBSUB_ASYNCHRONOUS : 0)
      self.init(registration.id, flags, Unmanaged.passRetained(registration).toOpaque())
    }

    var id: UInt64 { place.word >> 16 }
    var isAsynchronous: Bool { place.word & UInt64(PUBSUB_ASYNCHRONOUS) != 0 }
    /// The registration; nil if the subscription is plain.
    var registration: Registration? {
      guard place.word & UInt64(PUBSUB_REGISTERED) != 0, let info = place.info else { return nil }
      return Unmanaged.fromOpaque(info).takeUnretainedValue()
    }
    var site: Site {
      let info = place.info.unsafelyUnwrapped
      if place.word & UInt64(PUBSUB_REGISTERED) != 0 {
        return Unmanaged<Registration>.fromOpaque(info)._withUnsafeGuaranteedRef { $0.site }
      }
      return Unmanaged.fromOpaque(info).takeUnretainedValue()
    }
    var subscriber: Subscriber { site.subscriber }
  }

  let base: UnsafeMutablePointer<pubsub_buffer>

  init(base: UnsafeMutablePointer<pubsub_buffer>) { self.base = base }

  /// Makes the buffer to which a topic's root points.
  init(root: UnsafeRawPointer) {
    base = UnsafeMutableRawPointer(mutating: root).assumingMemoryBound(to: pubsub_buffer.self)
  }

  init(capacity: Int, priority: Int) {
    // The header; four words for each handler: function, context, and two for the entry; then the samples, a word each.
    let words = 4 * capacity + capacity / Self.blockLength + 1
    let size = MemoryLayout<pubsub_buffer>.size + words * MemoryLayout<UInt>.size
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    base = memory.initializeMemory(as: pubsub_buffer.self, to: pubsub_buffer())
    base.pointee.end = 0
    base.pointee.used = 0
    base.pointee.capacity = Int32(capacity)
    base.pointee.priority = priority
    base.pointee.has_owners = 0
  }

  func deallocate() { UnsafeMutableRawPointer(base).deallocate() }

  var capacity: Int { Int(base.pointee.capacity) }
  var priority: Int { base.pointee.priority }
  var isFull: Bool { used == capacity }

  /// The number of places that have been given to handlers; places from `end` on hold cancelled handlers that a post
  /// may still read.
  ///
  /// Only writers access this word. Readers access `end`, the word before it.
  private var used: Int {
    get { Int(pubsub_used_place(base).pointee) }
    nonmutating set { pubsub_used_place(base).pointee = Int32(newValue) }
  }

  /// The number of places that posts read; handlers in these places may be cancelled.
  private(set) var end: Int {
    get { pubsub_load_end(base) }
    nonmutating set { pubsub_store_end(base, newValue) }
  }

  var handlers: UnsafeMutablePointer<pubsub_handler> {
    (UnsafeMutableRawPointer(base) + MemoryLayout<pubsub_buffer>.size).assumingMemoryBound(to: pubsub_handler.self)
  }

  var entries: UnsafeMutablePointer<Entry> {
    UnsafeMutableRawPointer(handlers + capacity).assumingMemoryBound(to: Entry.self)
  }

  /// The number of entries in a block.
  private static let blockLength = 32

  /// The identifiers of the first entries of all blocks: few enough to stay in the processor's cache while a search reads them.
  private var samples: UnsafeMutablePointer<UInt64> {
    UnsafeMutableRawPointer(entries + capacity).assumingMemoryBound(to: UInt64.self)
  }

  private func put(_ handler: pubsub_handler, _ entry: Entry, at index: Int) {
    handlers[index] = handler
    entries[index] = entry
    if index % Self.blockLength == 0 { samples[index / Self.blockLength] = entry.id }
  }

  /// The highest identifier in the buffer; zero if it is empty.
  var lastID: UInt64 { used == 0 ? 0 : entries[used - 1].id }

  /// Appends a handler; posts under way do not see it.
  func append(_ handler: pubsub_handler, _ entry: Entry) {
    let index = used
    put(handler, entry, at: index)
    if handler.function == pubsub_owned_call() { pubsub_note_owners(base) }
    used = index + 1
    Hook.step("append: show the handler")
    end = index + 1
  }

  /// Lowers the end of the buffer, if the handler that is about to be cancelled is the last one.
  ///
  /// The new end also leaves out cancelled handlers before it, 32 at most. The latest subscriber is often the first to
  /// cancel, again and again; without this, posts would read all of their places in vain.
  func lower(to place: Int) {
    guard place == end - 1 else { return }
    var lowered = place
    var steps = 32
    while lowered > 0, steps > 0, isCancelled(at: lowered - 1) {
      lowered -= 1
      steps -= 1
    }
    Hook.step("lower: show fewer handlers")
    // The caller cancels the handler next. That store is a fence, so a reader that protects the buffer afterward sees
    // this end.
    end = lowered
  }

  /// Makes the places from `end` on available to new handlers; the caller has checked that no reader uses an earlier,
  /// higher end.
  func reuse() { used = end }

  /// Empties the buffer for handlers of another priority; no thread reads the buffer or can find it.
  func begin(_ priority: Int) {
    end = 0
    used = 0
    base.pointee.priority = priority
    base.pointee.has_owners = 0
  }

  func isCancelled(at index: Int) -> Bool { handlers[index].function == pubsub_cancelled() }

  /// The places whose handlers have not been cancelled.
  var standing: some Sequence<Int> { (0..<end).lazy.filter { !isCancelled(at: $0) } }

  /// Returns the place of the handler with an identifier; nil if the buffer has none.
  ///
  /// Identifiers rise from place to place, mostly evenly. The search finds the block of the identifier among the samples, and
  /// begins in that block where an even rise would put it.
  ///
  /// - Complexity: logarithmic; about one cache miss.
  func index(of id: UInt64) -> Int? {
    let last = end - 1
    if last < 0 { return nil }
    let (entries, samples) = (entries, samples)
    let (firstID, lastID) = (samples[0], entries[last].id)
    // The latest subscriber is often the first to cancel.
    if id == lastID { return last }
    guard id >= firstID, id < lastID else { return nil }
    // No identifier is missing, so the place follows without a read of its entry.
    if lastID - firstID == UInt64(last) { return Int(id - firstID) }
    let block = block(of: id, before: lastID, last / Self.blockLength)
    let start = block * Self.blockLength
    let end = min(start + Self.blockLength, last)
    let rise = (end == last ? lastID : samples[block + 1]) - samples[block]
    var place = start + Int((id - samples[block]) * UInt64(end - start) / rise)
    // The handler will be cancelled next, and is on another cache line.
    pubsub_prefetch(handlers + place)
    while place > start, entries[place].id > id { place -= 1 }
    while place < end, entries[place].id < id { place += 1 }
    return entries[place].id == id ? place : nil
  }

  /// Returns the last block whose first identifier is not higher than this one.
  ///
  /// Most blocks are near to where an even rise would put them; the rest of the search halves the range.
  private func block(of id: UInt64, before lastID: UInt64, _ last: Int) -> Int {
    let samples = samples
    var (low, high) = (0, last)
    let guess = Int(Double(id - samples[0]) / Double(lastID - samples[0]) * Double(last))
    let (near, far) = (max(guess - 8, 0), min(guess + 8, last))
    if samples[near] <= id { low = near } else { high = near - 1 }
    if samples[far] <= id { low = far } else { high = min(high, far - 1) }
    while low < high {
      let middle = (low + high + 1) / 2
      if samples[middle] <= id { low = middle } else { high = middle - 1 }
    }
    return low
  }

  /// Returns a new buffer with the handlers that are not cancelled, and room for half as many more.
  func copy(living: Int) -> HandlerBuffer {
    let copy = HandlerBuffer(capacity: living + living / 2 + 12, priority: priority)
    let (handlers, entries) = (handlers, entries)
    var next = 0
    for index in standing {
      copy.put(handlers[index], entries[index], at: next)
      next += 1
    }
    if pubsub_has_owners(base) { pubsub_note_owners(copy.base) }
    copy.end = next
    copy.used = next
    return copy
  }
}
