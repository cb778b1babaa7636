internal import CPubSub

extension HandlerStore {
  /// Cancels a plain subscription, if it stands here.
  ///
  /// - Complexity: constant on average, whatever the order of cancelling, but for finding it.
  func remove(_ reference: PlainReference, into released: inout Released) {
    if cancel(id(of: reference), in: &list, &released) { publish() }
    tidy(into: &released)
  }

  /// Cancels a subscription, if it stands here.
  ///
  /// - Complexity: constant on average, whatever the order of cancelling, but for finding it.
  func remove(_ registration: Registration, into released: inout Released) {
    guard registrations[registration.id] != nil else { return }
    if let key = registration.subjectAddress {
      guard let entry = subjects[key] else { return }
      if cancel(registration.id, in: &entry.list, &released) { publish(entry, key) }
    } else if cancel(registration.id, in: &list, &released) {
      publish()
    }
    tidy(into: &released)
  }

  /// Cancels the plain subscriptions that still stand: the bus is gone.
  func removePlain(into released: inout Released) {
    for segment in list.segments {
      let buffer = segment.buffer
      for place in buffer.standing where buffer.entries[place].site != HandlerBuffer.Entry.registered {
        if cancel(buffer.entries[place].id, in: &list, &released) { publish() }
      }
    }
    tidy(into: &released)
  }

  /// Cancels those of a full buffer whose owner is gone, and says how many: the bus does not gather them.
  func cancelExpired(in buffer: HandlerBuffer, _ released: inout Released) -> Int {
    if registrations.isEmpty { return 0 }
    var count = 0
    for place in buffer.standing {
      guard let registration = registrations[buffer.entries[place].id], registration.isExpired(keeping: &released)
      else { continue }
      if let context = cancel(at: place, of: buffer, &released) { retire(.context(context)) }
      count += 1
    }
    return count
  }

  /// Cancels a handler in a list, if it stands there; true if readers have to be shown another buffer.
  private func cancel(_ id: UInt64, in list: inout HandlerList, _ released: inout Released) -> Bool {
    guard let (index, place) = list.find(id) else { return false }
    let buffer = list.segments[index].buffer
    // First, so that fewer posts wait for the memory in which the handler is cancelled.
    buffer.lower(to: place)
    let context = cancel(at: place, of: buffer, &released)
    list.segments[index].living -= 1
    let living = list.segments[index].living
    if living == 0 {
      list.segments.remove(at: index)
      return end(buffer, context, &released)
    }
    // Nearly always no thread reads, or not for long, and what was captured is released at once. Without captured values there
    // is no scan: each scan costs every poster a wait for its own record.
    if let context {
      if retirement == nil, havePostsEnded(reading: topic.pointee.root) {
        buffer.reuse()
        released.add(context)
      } else {
        retire(.context(context))
      }
    }
    // As many again may be cancelled before the living are moved together: constant time for each, on average.
    guard buffer.end > 2 * living + 16 || buffer.capacity > 4 * living + 64 else { return false }
    list.segments[index].buffer = buffer.copy(living: living)
    retire(.buffer(buffer))
    return true
  }

  /// Lets go of a buffer with its last handler; true if readers have to be shown another root.
  private func end(
    _ buffer: HandlerBuffer, _ context: UnsafeMutableRawPointer?, _ released: inout Released
  ) -> Bool {
    let root = UnsafeRawPointer(buffer.base)
    let isRoot = topic.pointee.root == root
    if isRoot {
      // Posts that enter from here on find nothing, so that the readers are the present ones at most.
      pubsub_store_pointer(&topic.pointee.root, nil)
      Hook.step("cancel: nobody finds the last one's buffer")
      if retirement == nil, havePostsEnded(reading: root) {
        buffer.removeAll()
        spare = buffer
        if let context { released.add(context) }
        return false
      }
    }
    if isRoot, retirement == nil { retirement = Retirement(under: root) }
    if let context { retire(.context(context)) }
    retire(.buffer(buffer))
    return true
  }

  /// Has a handler called no more, and returns what it captured.
  private func cancel(
    at place: Int, of buffer: HandlerBuffer, _ released: inout Released
  ) -> UnsafeMutableRawPointer? {
    let handler = buffer.handlers + place
    let context = handler.pointee.context
    // It will be released soon, and has often not been used for long.
    pubsub_prefetch(context)
    Hook.step("cancel: put nothing in the handler's place")
    pubsub_cancel_handler(handler)
    if retirement == nil, registrations.isEmpty { return context }
    let id = buffer.entries[place].id
    retirement?.cancel(id)
    if let registration = registrations.removeValue(forKey: id) { released.keep(registration) }
    return context
  }

  /// Frees what can be freed; without subscribers and readers, the topic begins anew.
  private func tidy(into released: inout Released) {
    if let retirement, retirement.isDue || topic.pointee.root == nil { reclaim(into: &released) }
    guard usesDirectory, retirement == nil, topic.pointee.root == nil else { return }
    table?.deallocate()
    table = nil
    tableCount = 0
    usesDirectory = false
  }
}
