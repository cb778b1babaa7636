internal import CPubSub

/// Handlers of one priority in the order in which they subscribed, in one block of memory.
///
/// Readers look at the handlers before an end. Behind the handlers stands an entry for each, which says whose it is;
/// identifiers rise, so that a handler is found by its identifier in every buffer that ever held it. Writers hold the bus's
/// lock. Nothing here is freed by itself: a buffer that was ever published is retired, and freed when no thread reads it.
struct HandlerBuffer: Equatable {
  /// Whose a handler is: the subscription's identifier, and where it was made, or its registration.
  struct Entry {
    /// No program subscribes more often: without a pause, that takes years.
    static let idBits = 48

    private let place: pubsub_place

    private init(_ id: UInt64, _ flags: Int32, _ info: UnsafeRawPointer) {
      precondition(id >> Self.idBits == 0, "a bus has had more subscriptions than it can number")
      place = pubsub_place(word: id << 16 | UInt64(flags), info: info)
    }

    /// The entry of a plain subscription; the bus keeps the site.
    init(id: UInt64, site: Unmanaged<Site>) { self.init(id, 0, site.toOpaque()) }

    /// The entry of another subscription; it keeps the registration.
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

  /// The buffer that is a topic's root.
  init(root: UnsafeRawPointer) {
    base = UnsafeMutableRawPointer(mutating: root).assumingMemoryBound(to: pubsub_buffer.self)
  }

  init(capacity: Int, priority: Int) {
    // Header, then for each handler: function, context, and the entry's two. All are words.
    let size = MemoryLayout<pubsub_buffer>.size + capacity * 4 * MemoryLayout<UInt>.size
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    base = memory.initializeMemory(as: pubsub_buffer.self, to: pubsub_buffer())
    base.pointee.end = 0
    base.pointee.used = 0
    base.pointee.capacity = Int32(capacity)
    base.pointee.priority = priority
  }

  func deallocate() { UnsafeMutableRawPointer(base).deallocate() }

  var capacity: Int { Int(base.pointee.capacity) }
  var priority: Int { base.pointee.priority }
  var isFull: Bool { used == capacity }

  /// How many places have been given away; writers touch this word alone, and readers the word before it.
  private var used: Int {
    get { Int(pubsub_used_place(base).pointee) }
    nonmutating set { pubsub_used_place(base).pointee = Int32(newValue) }
  }

  /// The place behind the last that posts look at; handlers before it may be cancelled.
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

  /// No handler here has a higher identifier.
  var lastID: UInt64 { used == 0 ? 0 : entries[used - 1].id }

  /// Adds a handler behind the others; posts under way do not see it.
  func append(_ handler: pubsub_handler, _ entry: Entry) {
    let index = used
    handlers[index] = handler
    entries[index] = entry
    used = index + 1
    Hook.step("append: show the handler")
    end = index + 1
  }

  /// Has later posts look no further than to the last handler that stands before one that is about to be cancelled, if that
  /// is the last, and as far as a few steps lead.
  ///
  /// The latest subscriber is often the first to cancel, again and again. Without this, posts would scan all of their places in
  /// vain.
  func lower(to place: Int) {
    guard place == end - 1 else { return }
    var lowered = place
    var steps = 32
    while lowered > 0, steps > 0, isCancelled(at: lowered - 1) {
      lowered -= 1
      steps -= 1
    }
    Hook.step("lower: show fewer handlers")
    // The handler is cancelled next, which is a fence: a reader that protects the buffer later finds this end.
    end = lowered
  }

  /// Lets other handlers have the places behind the last one: every reader of the buffer has seen the last lowering.
  func reuse() { used = end }

  /// Empties the buffer, which no thread reads or can find, for handlers of another priority.
  func begin(_ priority: Int) {
    end = 0
    used = 0
    base.pointee.priority = priority
  }

  func isCancelled(at index: Int) -> Bool { handlers[index].function == pubsub_cancelled() }

  /// Where the handlers stand that have not been cancelled.
  var standing: some Sequence<Int> { (0..<end).lazy.filter { !isCancelled(at: $0) } }

  /// Where the handler of an identifier stands.
  ///
  /// Identifiers rise by one or more from place to place, and mostly evenly: each guess is what an even rise would give, and
  /// after a few of them the rest is halved.
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
      // None is missing: it need not be looked at, which would be a wait for memory.
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

  /// A buffer of the handlers that still stand, with room for half as many more.
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
    copy.end = next
    copy.used = next
    return copy
  }
}
