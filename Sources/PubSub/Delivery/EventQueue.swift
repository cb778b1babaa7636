/// The queue of a mailbox or an event sequence: the events and, beside them, their rare attributes (marks and gaps).
///
/// Its reader, a task of the mailbox or an iterator, takes events out as a *batch* (``refill(_:as:)``), which is its own: all that
/// are there or, with a bound, one.
///
/// The lock of its user guards it. Methods return the events that must be released, and the caller releases them after
/// unlocking: a deinitializer may call back and take the same lock.
struct EventQueue {
  /// The attributes of one event that differ from those of most events.
  struct Mark {
    var number: Int
    let purpose: HoldPurpose
    /// The kind of report that the event is, or inside whose handler it was posted; nil if neither.
    let insideReport: SelfReport?
  }

  /// A place in the queue where events were dropped.
  struct Gap {
    /// The number of the event before which the dropped events stood.
    var before: Int
    var count: Int
    /// The earliest kind of report (``Mark/insideReport``) among the dropped events; nil if one of them has none.
    ///
    /// So a failure of `missed:` is posted if it would be posted for at least one of them.
    var insideReport: SelfReport?
  }

  /// The largest number of events that the queue holds, not counting promised events.
  let limit: Int
  let dropsOldest: Bool
  private(set) var events = RawEvents()
  /// The marks, in rising order of event number; without those of handled events.
  private(set) var marks: [Mark] = []
  /// The gaps, in rising order of position, at most one at each position.
  private(set) var gaps: [Gap] = []
  /// Dropped events that are not released yet.
  private var dropped = RawEvents()

  init(_ buffering: EventBus.Buffering) {
    limit = max(0, buffering.limit)
    dropsOldest = buffering.dropping == .oldest
  }

  var isBounded: Bool { limit != .max }
  var isEmpty: Bool { events.isEmpty && gaps.isEmpty }

  // MARK: Adding events

  @inline(__always)
  mutating func append<E>(_ event: E, _ purpose: HoldPurpose, insideReport: SelfReport? = nil) {
    if insideReport == nil, !isBounded, purpose.delivery == nil { return events.append(event, as: E.self) }
    appendWithAttributes(event, purpose, insideReport)
  }

  private mutating func appendWithAttributes<E>(_ event: E, _ purpose: HoldPurpose, _ insideReport: SelfReport?) {
    if purpose.isPromised {
      events.append(event, as: E.self)
    } else {
      guard appendWithinBound(event, insideReport) else { return }
      // Without a kind of report it needs no mark.
      if insideReport == nil { return }
    }
    marks.append(Mark(number: events.end - 1, purpose: purpose, insideReport: insideReport))
  }

  /// Adds an event; if the queue is full, drops one event and records a gap in its place.
  ///
  /// - Returns: false if it dropped the event itself.
  private mutating func appendWithinBound<E>(_ event: E, _ insideReport: SelfReport?) -> Bool {
    // All marks are of events in the queue: with a bound, an event and its mark leave together (`MailboxState.nextStep`,
    // `EventInbox.takeGapOrRefill`).
    if events.count - marks.count(where: \.purpose.isPromised) < limit {
      events.append(event, as: E.self)
      return true
    }
    // The oldest event that may be dropped comes after the promised events at the front, if there is one.
    var oldest = events.first
    for mark in marks where mark.purpose.isPromised {
      guard mark.number == oldest else { break }
      oldest += 1
    }
    guard dropsOldest, oldest < events.end else {
      addGap(before: events.end, insideReport)
      dropped.append(event, as: E.self)
      return false
    }
    let mark = marks.firstIndex { $0.number == oldest }.map { marks.remove(at: $0) }
    dropped.append(remove(oldest, as: E.self), as: E.self)
    addGap(before: oldest + 1, mark?.insideReport)
    events.append(event, as: E.self)
    return true
  }

  var hasDropped: Bool { !dropped.isEmpty }

  /// Returns the dropped events, which the caller must release; nil if there are none.
  mutating func takeDropped() -> RawEvents? {
    if dropped.isEmpty { return nil }
    defer { dropped = RawEvents() }
    return dropped
  }

  // MARK: Taking events

  /// Returns the gap before the first event, and forgets it; nil if there is none.
  mutating func takeGap() -> Gap? {
    guard let gap = gaps.first, gap.before == events.first else { return nil }
    return gaps.removeFirst()
  }

  /// Moves events to an empty batch, if there are any; their marks stay here.
  ///
  /// With a bound it moves one: an event in a batch no longer counts toward the bound.
  mutating func refill<E>(_ batch: inout RawEvents, as type: E.Type) {
    if isBounded { events.moveFirst(to: &batch, as: type) } else { events.swapOut(into: &batch) }
  }

  /// The number of the next marked event; `Int.max` if none is marked.
  var nextMarked: Int { marks.first?.number ?? .max }

  mutating func takeMark() -> Mark { marks.removeFirst() }

  /// Removes an event for which the post no longer waits; returns nil if the event has been moved to a batch.
  ///
  /// The caller releases both after its lock: a mark may hold an interceptor of the program.
  mutating func withdraw<E>(_ delivery: AwaitedDelivery, as type: E.Type) -> (E, Mark)? {
    guard let index = marks.firstIndex(where: { $0.purpose.delivery == delivery }) else { return nil }
    let number = marks[index].number
    // An event in a batch keeps its mark. The task that reaches it finds the delivery withdrawn, and skips the event.
    guard number >= events.first else { return nil }
    let mark = marks.remove(at: index)
    return (remove(number, as: type), mark)
  }

  /// Removes an event, whose mark is gone; the events before it in the queue are renumbered by one.
  private mutating func remove<E>(_ number: Int, as type: E.Type) -> E {
    let former = events.first..<number
    for index in marks.indices where former.contains(marks[index].number) { marks[index].number += 1 }
    for index in gaps.indices where gaps[index].before <= number { gaps[index].before += 1 }
    mergeGaps()
    return events.remove(number, as: type)
  }

  /// Empties the queue; the caller must release the returned events and end the deliveries of the returned marks.
  mutating func removeAll() -> (RawEvents, [Mark]) {
    defer {
      events = RawEvents(first: events.end)
      (marks, gaps) = ([], [])
    }
    return (events, marks)
  }

  private mutating func addGap(before position: Int, _ insideReport: SelfReport?) {
    let index = gaps.firstIndex { $0.before > position } ?? gaps.endIndex
    gaps.insert(Gap(before: position, count: 1, insideReport: insideReport), at: index)
    mergeGaps()
  }

  private mutating func mergeGaps() {
    for index in gaps.indices.dropFirst().reversed() where gaps[index].before == gaps[index - 1].before {
      let gap = gaps.remove(at: index)
      gaps[index - 1].count += gap.count
      gaps[index - 1].insideReport = gaps[index - 1].insideReport.flatMap { kind in
        gap.insideReport.map { min(kind, $0) }
      }
    }
  }
}
