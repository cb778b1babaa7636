/// An array of events in raw memory; only the user knows the type of the events.
///
/// No stored property depends on a type parameter, so unspecialized code can use a lock around the value without looking
/// up metadata: a post to a mailbox costs a third of what it costs with an `Array`.
///
/// Each event has a number, one more than the event before it, which stays when the event moves to a batch.
///
/// A value owns its events and its memory. It must have one holder at a time, which empties and frees it; so it is safe
/// to send.
struct RawEvents: @unchecked Sendable {
  /// The number of the first event; while none is held, the number of the next event.
  private(set) var first = 0
  private(set) var count = 0
  /// The index of the first event in the memory; the places before it are free.
  private var head = 0
  private var capacity = 0
  private var memory: UnsafeMutableRawPointer?

  var isEmpty: Bool { count == 0 }
  /// The number of the next event that is appended.
  var end: Int { first + count }

  /// Makes an empty array without memory; the next event will have this number.
  init(first: Int = 0) { self.first = first }

  @inline(__always)
  mutating func append<E>(_ event: E, as type: E.Type) {
    if head + count == capacity { makeRoom(type) }
    place(head + count, type).initialize(to: event)
    count += 1
  }

  /// Moves the first event out; the array must not be empty.
  ///
  /// Here and below the caller passes the type: one inferred from the destination could be an optional of it.
  @inline(__always)
  mutating func takeFirst<E>(as type: E.Type) -> E {
    let event = place(head, type).move()
    head += 1
    first += 1
    count -= 1
    return event
  }

  /// Moves an event out, and moves the events before it up, which renumbers them.
  mutating func remove<E>(_ number: Int, as type: E.Type) -> E {
    let index = head + number - first
    let event = place(index, type).move()
    place(head + 1, type).moveInitialize(from: place(head, type), count: index - head)
    head += 1
    first += 1
    count -= 1
    return event
  }

  /// Releases all events, and keeps the memory.
  mutating func removeAll<E>(as type: E.Type) {
    if count > 0 { place(head, type).deinitialize(count: count) }
    first += count
    count = 0
    head = 0
  }

  /// Moves the first event to an empty array.
  mutating func moveFirst<E>(to other: inout RawEvents, as type: E.Type) {
    other.first = first
    other.append(takeFirst(as: type), as: type)
  }

  /// Moves all events and their memory to an empty array, takes over its memory, and continues the numbering.
  mutating func swapOut(into spare: inout RawEvents) {
    assert(spare.isEmpty)
    swap(&self, &spare)
    head = 0
    first = spare.end
  }

  /// Frees the memory; the array must be empty.
  mutating func free() {
    assert(isEmpty)
    memory?.deallocate()
    (memory, capacity, head) = (nil, 0, 0)
  }

  /// Releases all events and the memory; the value must not be used afterward.
  func release<E>(as type: E.Type) {
    var events = self
    events.removeAll(as: type)
    events.free()
  }

  @inline(__always)
  private func place<E>(_ index: Int, _ type: E.Type) -> UnsafeMutablePointer<E> {
    (memory.unsafelyUnwrapped + index * MemoryLayout<E>.stride).assumingMemoryBound(to: type)
  }

  @inline(never)
  private mutating func makeRoom<E>(_ type: E.Type) {
    // At least half of the places are free, before the head: moving costs constant time for each event, on average.
    if head > 0, head >= count {
      let old = place(head, type)
      head = 0
      return place(0, type).moveInitialize(from: old, count: count)
    }
    let capacity = max(4, 2 * count)
    let new = UnsafeMutablePointer<E>.allocate(capacity: capacity)
    if memory != nil {
      new.moveInitialize(from: place(head, type), count: count)
      memory?.deallocate()
    }
    (memory, self.capacity, head) = (UnsafeMutableRawPointer(new), capacity, 0)
  }
}
