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
    // The header, then four words for each handler: function, context, and two for the entry.
    let size = MemoryLayout<pubsub_buffer>.size + capacity * 4 * MemoryLayout<UInt>.size
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

  /// The highest identifier in the buffer; zero if it is empty.
  var lastID: UInt64 { used == 0 ? 0 : entries[used - 1].id }

  /// Appends a handler; posts under way do not see it.
  func append(_ handler: pubsub_handler, _ entry: Entry) {
    let index = used
    handlers[index] = handler
    entries[index] = entry
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
  /// Identifiers rise from place to place, mostly evenly. So this is an interpolation search, which becomes a binary
  /// search after four guesses.
  func index(of id: UInt64) -> Int? {
    let entries = entries
    var (low, high) = (0, end - 1)
    guard high >= 0 else { return nil }
    // The latest subscriber is often the first to cancel.
    if entries[high].id == id { return high }
    var guesses = 4
    while low <= high {
      let (first, last) = (entries[low].id, entries[high].id)
      guard id >= first, id <= last else { return nil }
      // No identifier is missing in this range, so the place follows without a read of its entry, which would be a
      // cache miss.
      if last - first == UInt64(high - low) { return low + Int(id - first) }
      let middle =
        if guesses > 0 {
          low + Int(Double(id - first) / Double(last - first) * Double(high - low))
        } else {
          (low + high) / 2
        }
      guesses -= 1
      let found = entries[middle].id
      if found == id { return middle }
      if found < id { low = middle + 1 } else { high = middle - 1 }
    }
    return nil
  }

  /// Returns a new buffer with the handlers that are not cancelled, and room for half as many more.
  func copy(living: Int) -> HandlerBuffer {
    let copy = HandlerBuffer(capacity: living + living / 2 + 12, priority: priority)
    let (handlers, entries) = (handlers, entries)
    let (newHandlers, newEntries) = (copy.handlers, copy.entries)
    var next = 0
    for index in standing {
      newHandlers[next] = handlers[index]
      newEntries[next] = entries[index]
      next += 1
    }
    if pubsub_has_owners(base) { pubsub_note_owners(copy.base) }
    copy.end = next
    copy.used = next
    return copy
  }
}
