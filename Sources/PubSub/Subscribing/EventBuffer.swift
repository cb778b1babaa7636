internal import Scheduling

/// The buffer between the bus and an iterator of a sequence: the bus adds events, the iterator and its copies take them.
///
/// Two locks keep posters and consumers apart. The consumer moves events into a batch, under the lock that posters use.
/// It then takes them one at a time from the batch, under a lock that only consumers use. So, without a bound, posters
/// and consumers contend once a batch.
@usableFromInline
final class EventBuffer<Element: Sendable>: Receiver, @unchecked Sendable {
  /// Makes the element for the event of a store at an address.
  private let element: @Sendable (UnsafeRawPointer, HandlerStore) -> Element
  /// Makes the element for a number of lost events; nil for a sequence of plain events, which has no bound.
  private let missed: (@Sendable (Int) -> Element)?
  private let inbox: Guarded<EventInbox>
  private let batch = Guarded(RawEvents())

  init(
    _ buffering: EventBus.Buffering, missed: (@Sendable (Int) -> Element)?,
    element: @escaping @Sendable (UnsafeRawPointer, HandlerStore) -> Element
  ) {
    (self.element, self.missed) = (element, missed)
    inbox = Guarded(EventInbox(queue: EventQueue(buffering)))
  }

  deinit { removeAll() }

  /// Releases all held events.
  func removeAll() {
    let (events, dropped) = inbox.withLock { ($0.queue.removeAll().0, $0.queue.takeDropped()) }
    let rest = batch.withLock { batch in
      defer { batch = RawEvents() }
      return batch
    }
    for events in [events, rest, dropped] { events?.release(as: Element.self) }
  }

  // MARK: Adding events

  override func hold(_ event: UnsafeRawPointer, of store: HandlerStore, _ purpose: HoldPurpose) -> HoldOutcome {
    let element = element(event, store)
    return inbox.withLock { inbox in
      if inbox.isClosed { return .nothing }
      inbox.queue.append(element, purpose)
      return inbox.waiters.isEmpty && !inbox.queue.hasDropped ? .isTaken : [.isTaken, .mustWake]
    }
  }

  override func wake() {
    // Resumes a waiter even if the event has been taken meanwhile: a copy of the iterator may have moved others to the batch.
    let (waiter, dropped) = inbox.withLock { inbox in
      (inbox.waiters.isEmpty ? nil : inbox.waiters.removeFirst(), inbox.queue.takeDropped())
    }
    dropped?.release(as: Element.self)
    waiter?.resume()
  }

  override func close() {
    let waiters = inbox.withLock { inbox in
      inbox.isClosed = true
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
    // Nearly always there is a batch, and no need to look at the task. With `missed` there is a bound, and so never a batch here: its one
    // event passes through the batch below.
    if missed == nil, batch.withLock({ move(from: &$0, to: place) }) { return true }
    // A consumer that always finds an event never suspends. So this checks for cancellation of its task.
    if Task.isCancelled { close() }
    return batch.withLock { batch in
      let gap = batch.isEmpty ? inbox.withLock { $0.takeGapOrRefill(&batch, as: Element.self) } : nil
      guard let gap, let missed else { return move(from: &batch, to: place) }
      place.initialize(to: missed(gap.count))
      return true
    }
  }

  private func move(from batch: inout RawEvents, to place: UnsafeMutablePointer<Element>) -> Bool {
    if batch.isEmpty { return false }
    place.initialize(to: batch.takeFirst(as: Element.self))
    return true
  }

  /// Waits until an element is held; returns false at the end of the sequence.
  @usableFromInline
  func hasMore() async -> Bool {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { waiter in
        // Takes both locks, so that this sees an event that a copy of the iterator is moving from the inbox to the batch.
        let waits = batch.withLock { batch in
          inbox.withLock { inbox in
            let waits = batch.isEmpty && inbox.queue.isEmpty && !inbox.isClosed
            if waits { inbox.waiters.append(waiter) }
            return waits
          }
        }
        if !waits { waiter.resume() }
      }
    } onCancel: {
      close()
    }
    return !isAtEnd
  }

  /// Whether no element is held, and none will come.
  @usableFromInline
  var isAtEnd: Bool {
    batch.withLock { batch in inbox.withLock { batch.isEmpty && $0.queue.isEmpty && $0.isClosed } }
  }
}

/// The state that posters and the consumers of a sequence share; guarded by a lock, and without type parameters (see
/// ``RawEvents``).
private struct EventInbox {
  var queue: EventQueue
  /// The tasks that wait, in order of arrival; a resumed task looks for an event itself.
  var waiters: [UnsafeContinuation<Void, Never>] = []
  var isClosed = false

  /// Returns the gap before the first event or, if there is none, moves events to the empty batch.
  mutating func takeGapOrRefill<E>(_ batch: inout RawEvents, as type: E.Type) -> EventQueue.Gap? {
    if let gap = queue.takeGap() { return gap }
    if queue.events.isEmpty { return nil }
    queue.refill(&batch, as: type)
    // The event has left the queue, and so must its mark: `EventQueue.appendWithinBound` subtracts marked events.
    if queue.nextMarked == batch.first { _ = queue.takeMark() }
    return nil
  }
}
