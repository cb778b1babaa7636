/// What a sequence and its iterators share: the bus puts in, the consumer takes out.
///
/// The consumer takes all that is held at once, under the lock that posters use, and then one after another from what it
/// took, under a lock that only consumers use: posters and the consumer meet once a batch. A bounded buffer is taken from
/// one at a time, so that the bound is kept exactly.
@usableFromInline
final class EventBuffer<Element: Sendable>: Receiver, @unchecked Sendable {
  /// The element of a store's event at an address.
  private let element: @Sendable (UnsafeRawPointer, HandlerStore) -> Element
  private let inbox: Guarded<EventInbox>
  private let batch = Guarded(RawEvents())
  private let missed: (@Sendable (Int) -> Element)?

  init(
    _ buffering: Buffering, missed: (@Sendable (Int) -> Element)?,
    element: @escaping @Sendable (UnsafeRawPointer, HandlerStore) -> Element
  ) {
    self.element = element
    inbox = Guarded(EventInbox(queue: EventQueue(buffering)))
    self.missed = missed
  }

  deinit {
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

  // MARK: Coming

  override func hold(_ event: UnsafeRawPointer, of store: HandlerStore, _ purpose: HoldPurpose) -> HoldOutcome {
    let element = element(event, store)
    return inbox.withLock { inbox in
      if inbox.isFinished { return .nothing }
      inbox.queue.append(element, purpose)
      return inbox.waiters.isEmpty && !inbox.queue.hasDropped ? .isHeld : [.isHeld, .sleeps]
    }
  }

  override func wake() {
    // Also if the event has been taken meanwhile: the rest of a batch may be there for another iterator.
    let (waiter, dropped) = inbox.withLock { ($0.takeWaiter(), $0.queue.takeDropped()) }
    dropped.map { release($0) }
    waiter?.resume()
  }

  /// Ends the sequence behind what it holds, and resumes the tasks that wait.
  func finish() {
    let waiters = inbox.withLock { inbox in
      inbox.isFinished = true
      defer { inbox.waiters = [] }
      return inbox.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  // MARK: Going

  /// Moves the next element to uninitialised memory; false if none is held.
  ///
  /// Not returned as an optional: code that is not specialised would look up that type's metadata for each element.
  @usableFromInline
  func take(into place: UnsafeMutablePointer<Element>) -> Bool {
    if missed == nil, batch.withLock({ move(from: &$0, to: place) }) { return true }
    // A consumer that is never without an event does not wait, and so is asked, once a batch, whether its task is cancelled.
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
      if let missed, let count = inbox.queue.takeGap() {
        place.initialize(to: missed(count))
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

  /// Waits until something is held; false at the end.
  @usableFromInline
  func hasMore() async -> Bool {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { waiter in
        // Both locks, so that no event is overlooked that another iterator has just moved from the one place to the other.
        let isOver = batch.withLock { batch in inbox.withLock { $0.wait(waiter, unless: !batch.isEmpty) } }
        if isOver { waiter.resume() }
      }
    } onCancel: {
      finish()
    }
    return batch.withLock { batch in inbox.withLock { !batch.isEmpty || !$0.queue.isEmpty || !$0.isFinished } }
  }
}

/// What posters and the consumer of a sequence share; guarded by a lock, and free of type parameters (see ``RawEvents``).
private struct EventInbox {
  var queue: EventQueue
  /// The tasks that wait, in order of arrival.
  ///
  /// They are told to look again, and are not given an event.
  var waiters: [UnsafeContinuation<Void, Never>] = []
  var isFinished = false

  mutating func takeWaiter() -> UnsafeContinuation<Void, Never>? { waiters.isEmpty ? nil : waiters.removeFirst() }

  /// Adds a waiting task; true if there is nothing to wait for.
  mutating func wait(_ waiter: UnsafeContinuation<Void, Never>, unless hasBatch: Bool) -> Bool {
    let isOver = hasBatch || !queue.isEmpty || isFinished
    if !isOver { waiters.append(waiter) }
    return isOver
  }
}
