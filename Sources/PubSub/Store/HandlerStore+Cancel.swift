internal import CPubSub

extension HandlerStore {
  /// Cancels a subscription, if this store has it.
  ///
  /// - Complexity: constant on average, whatever the order of cancelling, in addition to the search for the handler.
  func remove(_ id: UInt64, from subject: UnsafeRawPointer? = nil, into released: inout Released) {
    if let subject {
      guard let entry = subjects[subject] else { return }
      if cancel(id, in: &entry.list, &released) { publish(entry, subject) }
    } else if cancel(id, in: &list, &released) {
      publish()
    }
    tidy(into: &released)
  }

  /// Cancels all remaining plain subscriptions, when the bus is released.
  func removePlain(into released: inout Released) {
    for (entry, _) in list.standing where entry.registration == nil {
      if cancel(entry.id, in: &list, &released) { publish() }
    }
    tidy(into: &released)
  }

  /// Returns whether this store has a plain subscription that is not cancelled.
  func stands(_ id: UInt64) -> Bool { list.find(id) != nil }

  /// All subscriptions that are not cancelled, in no particular order.
  var standing: [(entry: HandlerBuffer.Entry, priority: Int)] {
    (subjects.values.map(\.list) + [list]).flatMap(\.standing)
  }

  /// Cancels the handlers of a full buffer whose owner or subject has been released, so that they do not accumulate;
  /// returns their number.
  func cancelExpired(in buffer: HandlerBuffer, _ released: inout Released) -> Int {
    guard hasTied else { return 0 }
    var count = 0
    for place in buffer.standing {
      guard let registration = buffer.entries[place].registration, registration.isExpired(keeping: &released)
      else { continue }
      for context in cancel(at: place, of: buffer) { retire(.context(context)) }
      // The registration ends its mailbox or buffer after the lock.
      released.add { registration.cancel() }
      count += 1
    }
    return count
  }

  /// Cancels a handler in a list, if the list has it; returns true if the caller must publish another buffer.
  private func cancel(_ id: UInt64, in list: inout HandlerList, _ released: inout Released) -> Bool {
    guard let (index, place) = list.find(id) else { return false }
    let buffer = list.segments[index].buffer
    // Lower the end first: posts that see the lower end do not read the cache line that the cancellation writes.
    buffer.lower(to: place)
    let captured = cancel(at: place, of: buffer)
    list.segments[index].living -= 1
    let living = list.segments[index].living
    if living == 0 {
      list.segments.remove(at: index)
      return end(buffer, captured, &released)
    }
    // Usually no thread reads the buffer, and the captured values are released at once. If nothing was captured, skip
    // the scan: it makes every poster wait for the cache line of its own record.
    if !captured.isEmpty {
      if retirement == nil, !isRead(topic.pointee.root) {
        buffer.reuse()
        for context in captured { released.add(context) }
      } else {
        for context in captured { retire(.context(context)) }
      }
    }
    // Copy the living handlers only when about as many others are cancelled: so copying costs constant time per
    // cancellation, on average.
    guard buffer.end > 2 * living + 16 || buffer.capacity > 4 * living + 64 else { return false }
    list.segments[index].buffer = buffer.copy(living: living)
    retire(.buffer(buffer))
    return true
  }

  /// Retires a buffer whose last handler was cancelled; returns true if the caller must publish another root.
  private func end(
    _ buffer: HandlerBuffer, _ captured: Captured, _ released: inout Released
  ) -> Bool {
    let root = UnsafeRawPointer(buffer.base)
    let isRoot = topic.pointee.root == root
    if isRoot {
      // A post that begins after this store finds no root, so only posts already under way can read the buffer.
      pubsub_store_pointer(&topic.pointee.root, nil)
      Hook.step("cancel: no thread finds the last one's buffer")
      if retirement == nil, !isRead(root) {
        spare = buffer
        for context in captured { released.add(context) }
        return false
      }
    }
    if isRoot, retirement == nil { retirement = Retirement(under: root) }
    for context in captured { retire(.context(context)) }
    retire(.buffer(buffer))
    return true
  }

  /// Replaces a handler by one that does nothing, and returns what must be released for it.
  private func cancel(at place: Int, of buffer: HandlerBuffer) -> Captured {
    let handler = buffer.handlers + place
    let entry = buffer.entries[place]
    let captured = Captured(by: handler.pointee, entry)
    // The context is released soon, and is often not in the cache.
    pubsub_prefetch(captured.context)
    Hook.step("cancel: put nothing in the handler's place")
    pubsub_cancel_handler(handler)
    count(entry, -1)
    retirement?.cancel(entry.id)
    return captured
  }

  /// Frees garbage if a scan is due; resets the store to its first form once it has neither subscribers nor garbage.
  private func tidy(into released: inout Released) {
    if let retirement, retirement.isDue || topic.pointee.root == nil { reclaim(into: &released) }
    guard usesDirectory, retirement == nil, topic.pointee.root == nil else { return }
    table?.deallocate()
    table = nil
    tableCount = 0
    usesDirectory = false
  }
}

/// The objects to release with a handler: its context and its registration.
struct Captured: Sequence, IteratorProtocol {
  fileprivate private(set) var context: UnsafeMutableRawPointer?
  private var registration: UnsafeMutableRawPointer?

  init(by handler: pubsub_handler, _ entry: HandlerBuffer.Entry) {
    let registration = entry.registration
    context = registration.map { $0.owned.captured(by: handler) } ?? handler.context
    self.registration = registration.map { Unmanaged.passUnretained($0).toOpaque() }
  }

  var isEmpty: Bool { context == nil && registration == nil }

  mutating func next() -> UnsafeMutableRawPointer? { context.take() ?? registration.take() }
}
