internal import CPubSub

/// Handlers of one priority in the order in which they subscribed, in one block of memory.
///
/// Readers see a count and that many handlers. For writers, an identifier and a registration, which is retained, stand behind them for each;
/// identifiers rise, so that a handler is found by its identifier in every buffer that ever held it. Who writes holds the
/// bus's lock. Nothing here is freed by itself: a buffer that was ever published is retired, and freed when nobody reads it.
struct HandlerBuffer: Equatable {
  let base: UnsafeMutablePointer<pubsub_buffer>

  init(base: UnsafeMutablePointer<pubsub_buffer>) { self.base = base }

  /// The buffer that is a topic's root.
  init(root: UnsafeRawPointer) {
    base = UnsafeMutableRawPointer(mutating: root).assumingMemoryBound(to: pubsub_buffer.self)
  }

  init(capacity: Int) {
    // Header, then for each handler: function, context, identifier, registration. All are words.
    let size = MemoryLayout<pubsub_buffer>.size + capacity * 4 * MemoryLayout<UInt>.size
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    base = memory.initializeMemory(as: pubsub_buffer.self, to: pubsub_buffer())
    base.pointee.count = 0
    base.pointee.capacity = capacity
  }

  func deallocate() { UnsafeMutableRawPointer(base).deallocate() }

  var capacity: Int { base.pointee.capacity }
  var isFull: Bool { base.pointee.count == base.pointee.capacity }

  /// How many handlers stand, for readers and writers.
  var count: Int { pubsub_load(countPlace) }

  private var countPlace: UnsafeMutablePointer<Int> {
    UnsafeMutableRawPointer(base).assumingMemoryBound(to: Int.self)
  }

  private var end: UnsafeMutableRawPointer {
    UnsafeMutableRawPointer(base) + MemoryLayout<pubsub_buffer>.size + capacity * MemoryLayout<pubsub_handler>.size
  }

  var handlers: UnsafeMutablePointer<pubsub_handler> {
    (UnsafeMutableRawPointer(base) + MemoryLayout<pubsub_buffer>.size).assumingMemoryBound(to: pubsub_handler.self)
  }

  var ids: UnsafeMutablePointer<UInt64> { end.assumingMemoryBound(to: UInt64.self) }

  var registrations: UnsafeMutablePointer<Unmanaged<Registration>> {
    (end + capacity * MemoryLayout<UInt64>.size).assumingMemoryBound(to: Unmanaged<Registration>.self)
  }

  /// Adds a handler behind the others; posts under way do not see it.
  func append(_ handler: pubsub_handler, _ registration: Registration) {
    let index = base.pointee.count
    handlers[index] = handler
    ids[index] = registration.id
    registrations[index] = .passRetained(registration)
    pubsub_store(countPlace, index + 1)
  }

  func isCancelled(at index: Int) -> Bool { handlers[index].function == pubsub_cancelled() }

  /// Where the handler of an identifier stands.
  ///
  /// Identifiers rise by one or more from place to place, so that a guess is right while none between has been rebuilt away.
  func index(of id: UInt64) -> Int? {
    let count = base.pointee.count
    guard count > 0, id >= ids[0] else { return nil }
    let guess = min(Int(id - ids[0]), count - 1)
    if ids[guess] == id { return guess }
    var low = 0
    var high = guess
    while low < high {
      let middle = (low + high) / 2
      if ids[middle] < id { low = middle + 1 } else { high = middle }
    }
    return ids[low] == id ? low : nil
  }

  /// A buffer of the handlers that still stand, with room for as many again and some.
  func copy(living: Int) -> HandlerBuffer {
    let copy = HandlerBuffer(capacity: max(4, living + living / 2 + 1))
    var next = 0
    for index in 0..<base.pointee.count where !isCancelled(at: index) {
      copy.handlers[next] = handlers[index]
      copy.ids[next] = ids[index]
      copy.registrations[next] = registrations[index]
      next += 1
    }
    copy.base.pointee.count = next
    return copy
  }
}
