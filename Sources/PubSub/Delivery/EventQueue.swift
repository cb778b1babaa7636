/// What a mailbox or an event sequence holds: the events and, beside them, what is rare.
///
/// A pure value, with no type parameter in its storage; guarded by its user's lock. Whatever is to be released is returned,
/// lest a deinitialiser that calls back meets that lock.
struct EventQueue {
  /// Something that holds for one event.
  struct Mark {
    var number: Int
    /// The post that waits for its delivery; nil for an event that was promised, or that a sequence keeps, and is not waited
    /// for.
    var delivery: AwaitedDelivery?
  }

  /// Events that were dropped.
  struct Gap: Equatable {
    /// The number of the event before which they stood.
    var before: Int
    var count: Int
  }

  /// The most events that it holds, those that are marked not counted.
  let limit: Int
  let dropsOldest: Bool
  private(set) var events = RawEvents()
  /// Rising by number; events that were handed out as a batch may still be marked here.
  private(set) var marks: [Mark] = []
  /// Rising by position, at most one at each.
  private(set) var gaps: [Gap] = []
  /// What was dropped and has not been released: that may call code of the program's.
  private var dropped = RawEvents()

  init(_ buffering: Buffering) {
    switch buffering.bound {
    case nil: (limit, dropsOldest) = (.max, false)
    case .some(let bound): (limit, dropsOldest) = (max(0, bound.limit), bound.dropping == .oldest)
    }
  }

  var isBounded: Bool { limit != .max }
  var isEmpty: Bool { events.isEmpty && gaps.isEmpty }

  // MARK: Coming

  /// Adds an event.
  @inline(__always)
  mutating func append<E>(_ event: E, _ purpose: HoldPurpose) {
    switch purpose {
    case .posted where !isBounded: events.append(event, as: E.self)
    case .posted: appendWithinBound(event)
    case .promised: append(event, delivery: nil)
    case .awaited(let delivery): append(event, delivery: delivery)
    }
  }

  /// Adds an event; if there are too many, one is dropped, and a gap tells where.
  private mutating func appendWithinBound<E>(_ event: E) {
    if events.count - marks.count < limit { return events.append(event, as: E.self) }
    // The oldest that may be dropped stands behind the marked ones at the front, if there is any.
    var oldest = events.first
    for mark in marks {
      guard mark.number == oldest else { break }
      oldest += 1
    }
    guard dropsOldest, oldest < events.end else {
      widenGap(before: events.end)
      return dropped.append(event, as: E.self)
    }
    dropped.append(events.removeMovingFormer(oldest, as: E.self), as: E.self)
    // What stood before it has moved up by one, and so has what was lost there.
    for index in marks.indices where marks[index].number < oldest { marks[index].number += 1 }
    for index in gaps.indices where gaps[index].before <= oldest { gaps[index].before += 1 }
    mergeGaps()
    widenGap(before: oldest + 1)
    events.append(event, as: E.self)
  }

  var hasDropped: Bool { !dropped.isEmpty }

  /// The events that were dropped, to be released by the caller; nil if there are none.
  mutating func takeDropped() -> RawEvents? {
    if dropped.isEmpty { return nil }
    defer { dropped = RawEvents() }
    return dropped
  }

  /// Adds an event that no bound drops.
  private mutating func append<E>(_ event: E, delivery: AwaitedDelivery?) {
    marks.append(Mark(number: events.end, delivery: delivery))
    events.append(event, as: E.self)
  }

  // MARK: Going

  /// How many events were dropped before the first one, told once.
  mutating func takeGap() -> Int? {
    guard let gap = gaps.first, gap.before == events.first else { return nil }
    gaps.removeFirst()
    return gap.count
  }

  mutating func takeFirst<E>(as type: E.Type) -> E { events.takeFirst(as: type) }

  /// Hands all events out as a batch; their marks stay here.
  mutating func takeAll(into batch: inout RawEvents) { events.swapOut(into: &batch) }

  /// The number of the next event that is marked.
  var nextMarked: Int { marks.first?.number ?? .max }

  mutating func takeMark() -> Mark { marks.removeFirst() }

  /// Takes out an event that is waited for no longer; nil if it has been handed out.
  mutating func withdraw<E>(_ delivery: AwaitedDelivery, as type: E.Type) -> E? {
    guard let index = marks.firstIndex(where: { $0.delivery == delivery }) else { return nil }
    let number = marks[index].number
    // An event that has been handed out keeps its mark, which tells the taker of the batch.
    guard number >= events.first else { return nil }
    marks.remove(at: index)
    for index in marks.indices where marks[index].number > number { marks[index].number -= 1 }
    for index in gaps.indices where gaps[index].before > number { gaps[index].before -= 1 }
    mergeGaps()
    return events.removeMovingLater(number, as: type)
  }

  /// Empties the queue; what is returned is the caller's to tell and to release.
  mutating func removeAll() -> (RawEvents, [Mark]) {
    defer {
      events = RawEvents(first: events.end)
      (marks, gaps) = ([], [])
    }
    return (events, marks)
  }

  /// Keeps the memory of a batch that has been worked off for the next burst, if it is small.
  mutating func recycle(_ batch: inout RawEvents) {
    if batch.capacity <= 16 { batch.giveMemory(to: &events) }
  }

  private mutating func widenGap(before position: Int) {
    let index = gaps.lastIndex { $0.before <= position }
    if let index, gaps[index].before == position {
      gaps[index].count += 1
    } else {
      gaps.insert(Gap(before: position, count: 1), at: index.map { $0 + 1 } ?? 0)
    }
  }

  private mutating func mergeGaps() {
    guard gaps.count > 1 else { return }
    var merged: [Gap] = []
    for gap in gaps {
      if merged.last?.before == gap.before { merged[merged.count - 1].count += gap.count } else { merged.append(gap) }
    }
    gaps = merged
  }
}
