/// Events side by side in memory whose type only its user knows.
///
/// Nothing stored here depends on a type parameter. A lock around it is therefore a concrete one, whose parts unspecialised
/// generic code finds without looking up metadata: a post to a mailbox costs a third of what it costs with an array.
///
/// Each event has a number, one more than the event before it. What stands beside the events refers to them by number, and
/// so does not change when they are moved or handed on.
///
/// A value of this type owns its events and its memory. It is to be used by one holder, which empties and frees it; that is
/// what makes it safe to send.
struct RawEvents: @unchecked Sendable {
  /// The number of the first event held, or of the next one to come.
  private(set) var first = 0
  private(set) var count = 0
  /// Where the first event lies; the places before it are free.
  private var head = 0
  private(set) var capacity = 0
  private var memory: UnsafeMutableRawPointer?

  var isEmpty: Bool { count == 0 }
  /// The number of the next event to come.
  var end: Int { first + count }

  /// Room for none, yet, for events from a number on.
  init(first: Int = 0) { self.first = first }

  @inline(__always)
  mutating func append<E>(_ event: E, as type: E.Type) {
    if head + count == capacity { makeRoom(type) }
    place(head + count, type).initialize(to: event)
    count += 1
  }

  /// Moves the first event out; there is one.
  ///
  /// The type is always said, here and below: inferred from where the event goes, it could be an optional of it.
  @inline(__always)
  mutating func takeFirst<E>(as type: E.Type) -> E {
    let event = place(head, type).move()
    head += 1
    first += 1
    count -= 1
    return event
  }

  /// Moves an event out and closes the gap by moving those before it: they are renumbered, those behind it are not.
  mutating func removeMovingFormer<E>(_ number: Int, as type: E.Type) -> E {
    let index = head + number - first
    let event = place(index, type).move()
    place(head + 1, type).moveInitialize(from: place(head, type), count: index - head)
    head += 1
    first += 1
    count -= 1
    return event
  }

  /// Moves an event out and closes the gap by moving those behind it: they are renumbered, those before it are not.
  mutating func removeMovingLater<E>(_ number: Int, as type: E.Type) -> E {
    let index = head + number - first
    let event = place(index, type).move()
    place(index, type).moveInitialize(from: place(index + 1, type), count: head + count - index - 1)
    count -= 1
    return event
  }

  /// Releases the events that are held; the memory is kept.
  mutating func removeAll<E>(as type: E.Type) {
    if count > 0 { place(head, type).deinitialize(count: count) }
    first += count
    count = 0
    head = 0
  }

  /// Hands everything on: what remains is empty, has the spare memory, and counts on from here.
  mutating func swapOut(into spare: inout RawEvents) {
    assert(spare.isEmpty)
    swap(&self, &spare)
    head = 0
    first = spare.end
  }

  /// Gives the memory to another place that has none; nothing is held.
  mutating func giveMemory(to other: inout RawEvents) {
    guard other.capacity == 0 else { return }
    (other.memory, other.capacity) = (memory, capacity)
    (memory, capacity, head) = (nil, 0, 0)
  }

  /// Frees the memory; nothing is held.
  mutating func free() {
    assert(isEmpty)
    memory?.deallocate()
    (memory, capacity, head) = (nil, 0, 0)
  }

  /// A place within the memory, which was allocated for this type, by its only user; every caller keeps count.
  @inline(__always)
  private func place<E>(_ index: Int, _ type: E.Type) -> UnsafeMutablePointer<E> {
    (memory.unsafelyUnwrapped + index * MemoryLayout<E>.stride).assumingMemoryBound(to: type)
  }

  @inline(never)
  private mutating func makeRoom<E>(_ type: E.Type) {
    // At least half of the places before the head are free: moving costs constant time for each event, on average.
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
