internal import Scheduling

/// The buffer between the bus and the iterators of an event sequence: the bus adds events, the consumer takes them.
///
/// Two locks keep posters and consumers apart. The consumer moves all held events into a batch, under the lock that
/// posters use. It then takes them one at a time from the batch, under a lock that only consumers use. So posters and
/// consumers contend once a batch. From a bounded buffer the consumer takes one event at a time: events in a batch
/// would no longer count toward the bound.
@usableFromInline
final class EventBuffer<Element: Sendable>: Receiver, @unchecked Sendable {
  /// Makes the element for the event of a store at an address.
  private let element: @Sendable (UnsafeRawPointer, HandlerStore) -> Element
  private let inbox: Guarded<EventInbox>
  private let batch = Guarded(RawEvents())
  private let missed: (@Sendable (Int) -> Element)?

  init(
    _ buffering: EventBus.Buffering, missed: (@Sendable (Int) -> Element)?,
    element: @escaping @Sendable (UnsafeRawPointer, HandlerStore) -> Element
  ) {
    self.element = element
    inbox = Guarded(EventInbox(queue: EventQueue(buffering)))
    self.missed = missed
  }

  deinit { removeAll() }

  /// Releases all held events.
  func removeAll() {
    let (events, dropped) = inbox.withLock { ($0.queue.removeAll().0, $0.queue.takeDropped()) }
    let rest = batch.withLock { batch in
      defer { batch = RawEvents() }
      return batch
    }
    release(events)
    release(rest)
    dropped.map { release($0) }
  }

  private func release(_ events: RawEvents) {
    var events = events
    events.removeAll(as: Element.self)
    events.free()
  }

  // MARK: Adding events

  override func hold(_ event: UnsafeRawPointer, of store: HandlerStore, _ purpose: HoldPurpose) -> HoldOutcome {
    let element = element(event, store)
    return inbox.withLock { inbox in
      if inbox.isFinished { return .nothing }
      inbox.queue.append(element, purpose)
      return inbox.waiters.isEmpty && !inbox.queue.hasDropped ? .isHeld : [.isHeld, .mustWake]
    }
  }

  override func wake() {
    // Resumes a waiter even if the event has been taken meanwhile: the batch may hold another event for its iterator.
    let (waiter, dropped) = inbox.withLock { ($0.takeWaiter(), $0.queue.takeDropped()) }
    dropped.map { release($0) }
    waiter?.resume()
  }

  /// Ends the sequence after the events that it holds, and resumes the tasks that wait.
  func finish() {
    let waiters = inbox.withLock { inbox in
      inbox.isFinished = true
      defer { inbox.waiters = [] }
      return inbox.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  // MARK: Taking events

  /// Moves the next element to uninitialized memory; returns false if none is held.
  ///
  /// The element is not returned as an optional: unspecialized code would look up the metadata of the optional type for
  /// each element.
  @usableFromInline
  func take(into place: UnsafeMutablePointer<Element>) -> Bool {
    if missed == nil, batch.withLock({ move(from: &$0, to: place) }) { return true }
    // A consumer that always finds an event never suspends. So this checks for cancellation of its task, once a batch.
    if Task.isCancelled { finish() }
    guard missed == nil else { return takeWithinBound(into: place) }
    return batch.withLock { batch in
      if batch.isEmpty { refill(&batch) }
      return move(from: &batch, to: place)
    }
  }

  private func move(from batch: inout RawEvents, to place: UnsafeMutablePointer<Element>) -> Bool {
    if batch.isEmpty { return false }
    place.initialize(to: batch.takeFirst(as: Element.self))
    return true
  }

  private func takeWithinBound(into place: UnsafeMutablePointer<Element>) -> Bool {
    inbox.withLock { inbox in
      if let missed, let gap = inbox.queue.takeGap() {
        place.initialize(to: missed(gap.count))
      } else if !inbox.queue.events.isEmpty {
        if inbox.queue.nextMarked == inbox.queue.events.first { _ = inbox.queue.takeMark() }
        place.initialize(to: inbox.queue.takeFirst(as: Element.self))
      } else {
        return false
      }
      return true
    }
  }

  private func refill(_ batch: inout RawEvents) {
    inbox.withLock { inbox in
      if !inbox.queue.events.isEmpty { inbox.queue.takeAll(into: &batch) }
    }
  }

  /// Waits until an element is held; returns false at the end of the sequence.
  @usableFromInline
  func hasMore() async -> Bool {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { waiter in
        // Takes both locks, so that this sees an event that another iterator is moving from the inbox to the batch.
        let isOver = batch.withLock { batch in inbox.withLock { $0.wait(waiter, unless: !batch.isEmpty) } }
        if isOver { waiter.resume() }
      }
    } onCancel: {
      finish()
    }
    return !isAtEnd
  }

  /// Whether no element is held, and none will come.
  @usableFromInline
  var isAtEnd: Bool {
    batch.withLock { batch in inbox.withLock { batch.isEmpty && $0.queue.isEmpty && $0.isFinished } }
  }
}

/// The state that posters and the consumers of a sequence share; guarded by a lock, and without type parameters (see
/// ``RawEvents``).
private struct EventInbox {
  var queue: EventQueue
  /// The tasks that wait, in order of arrival.
  ///
  /// A resumed task looks for an event itself; none is handed to it.
  var waiters: [UnsafeContinuation<Void, Never>] = []
  var isFinished = false

  mutating func takeWaiter() -> UnsafeContinuation<Void, Never>? { waiters.isEmpty ? nil : waiters.removeFirst() }

  /// Adds a waiting task; returns true, and does not add it, if there is nothing to wait for.
  mutating func wait(_ waiter: UnsafeContinuation<Void, Never>, unless hasBatch: Bool) -> Bool {
    let isOver = hasBatch || !queue.isEmpty || isFinished
    if !isOver { waiters.append(waiter) }
    return isOver
  }
}
