internal import CPubSub

extension HandlerStore {
  /// Cancels a subscription, if it stands here.
  ///
  /// - Complexity: constant on average, whatever the order of cancelling, but for finding it.
  func remove(_ id: UInt64, from subject: UnsafeRawPointer? = nil, into released: inout Released) {
    if let subject {
      guard let entry = subjects[subject] else { return }
      if cancel(id, in: &entry.list, &released) { publish(entry, subject) }
    } else if cancel(id, in: &list, &released) {
      publish()
    }
    tidy(into: &released)
  }

  /// Cancels the plain subscriptions that still stand: the bus is gone.
  func removePlain(into released: inout Released) {
    for (entry, _) in list.standing where entry.registration == nil {
      if cancel(entry.id, in: &list, &released) { publish() }
    }
    tidy(into: &released)
  }

  /// Whether a plain subscription stands here.
  func stands(_ id: UInt64) -> Bool { list.find(id) != nil }

  /// All subscriptions, in no order.
  var standing: [(entry: HandlerBuffer.Entry, priority: Int)] {
    (subjects.values.map(\.list) + [list]).flatMap(\.standing)
  }

  /// Cancels those of a full buffer whose owner is gone, and says how many: the bus does not gather them.
  func cancelExpired(in buffer: HandlerBuffer, _ released: inout Released) -> Int {
    guard hasTied else { return 0 }
    var count = 0
    for place in buffer.standing {
      guard let registration = buffer.entries[place].registration, registration.isExpired(keeping: &released)
      else { continue }
      for context in cancel(at: place, of: buffer) { retire(.context(context)) }
      // What stands behind it ends without the lock.
      released.add { registration.cancel() }
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
    let captured = cancel(at: place, of: buffer)
    list.segments[index].living -= 1
    let living = list.segments[index].living
    if living == 0 {
      list.segments.remove(at: index)
      return end(buffer, captured, &released)
    }
    // Nearly always no thread reads, and what was captured is released at once. Without captured values there is no scan: each scan
    // costs every poster a wait for its own record.
    if !captured.isEmpty {
      if retirement == nil, !isRead(topic.pointee.root) {
        buffer.reuse()
        for context in captured { released.add(context) }
      } else {
        for context in captured { retire(.context(context)) }
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
    _ buffer: HandlerBuffer, _ captured: Captured, _ released: inout Released
  ) -> Bool {
    let root = UnsafeRawPointer(buffer.base)
    let isRoot = topic.pointee.root == root
    if isRoot {
      // Posts that enter from here on find nothing, so that the readers are the present ones at most.
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

  /// Has a handler called no more, and returns what is to be released for it.
  private func cancel(at place: Int, of buffer: HandlerBuffer) -> Captured {
    let handler = buffer.handlers + place
    let entry = buffer.entries[place]
    let captured = Captured(by: handler.pointee, entry)
    // It will be released soon, and has often not been used for long.
    pubsub_prefetch(captured.context)
    Hook.step("cancel: put nothing in the handler's place")
    pubsub_cancel_handler(handler)
    count(entry, -1)
    retirement?.cancel(entry.id)
    return captured
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

/// What is released with a handler: what it captured, and its registration.
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
