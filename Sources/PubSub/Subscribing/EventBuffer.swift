/// What a sequence and its iterators share: the bus puts in, the consumer takes out.
///
/// The consumer takes all that is held at once, under the lock that posters use, and then one after another from what it
/// took, under a lock that only consumers use: posters and the consumer meet once a batch. A bounded buffer is taken from
/// one at a time, so that the bound is kept exactly.
final class EventBuffer<Element: Sendable>: Sendable {
  private struct Inbox {
    var queue: EventQueue
    /// Who waits, first come first served.
    ///
    /// They are told to look again, and are not given an event: so no type parameter comes in here.
    var waiters: [UnsafeContinuation<Void, Never>] = []
    var isFinished = false

    mutating func takeWaiter() -> UnsafeContinuation<Void, Never>? { waiters.isEmpty ? nil : waiters.removeFirst() }
  }

  private enum Taken {
    case element(Element)
    case nothing
    case end
  }

  private let inbox: Guarded<Inbox>
  private let batch = Guarded(RawEvents())
  private let missed: (@Sendable (Int) -> Element)?

  init(_ buffering: Buffering, missed: (@Sendable (Int) -> Element)?) {
    inbox = Guarded(Inbox(queue: EventQueue(buffering)))
    self.missed = missed
  }

  deinit {
    var (events, _) = inbox.withLock { $0.queue.removeAll() }
    var rest = batch.withLock { batch in
      defer { batch = RawEvents() }
      return batch
    }
    events.removeAll(as: Element.self)
    events.free()
    rest.removeAll(as: Element.self)
    rest.free()
  }

  // MARK: Coming

  func post(_ element: Element) {
    let waiter = inbox.withLock { inbox -> UnsafeContinuation<Void, Never>? in
      if inbox.isFinished { return nil }
      inbox.queue.append(element)
      return inbox.takeWaiter()
    }
    waiter?.resume()
  }

  func postWithinBound(_ element: Element) {
    // What is dropped is released outside the lock: its deinitialiser may call back.
    var dropped: Element?
    let waiter = inbox.withLock { inbox -> UnsafeContinuation<Void, Never>? in
      if inbox.isFinished { return nil }
      dropped = inbox.queue.appendWithinBound(element)
      return inbox.takeWaiter()
    }
    withExtendedLifetime(dropped) {}
    waiter?.resume()
  }

  /// Ends the sequence behind what it holds; whoever waits is told.
  func finish() {
    let waiters = inbox.withLock { inbox in
      inbox.isFinished = true
      defer { inbox.waiters = [] }
      return inbox.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  // MARK: Going

  /// The next element; nil at the end.
  func next() async -> Element? {
    while true {
      switch take() {
      case .element(let element): return element
      case .end: return nil
      case .nothing: break
      }
      await withTaskCancellationHandler {
        await withUnsafeContinuation { continuation in
          let hasToWait = inbox.withLock { inbox in
            let hasToWait = inbox.queue.isEmpty && !inbox.isFinished
            if hasToWait { inbox.waiters.append(continuation) }
            return hasToWait
          }
          if !hasToWait { continuation.resume() }
        }
      } onCancel: {
        finish()
      }
    }
  }

  private func take() -> Taken {
    missed == nil ? takeFromBatch() : takeFromInbox()
  }

  private func takeFromBatch() -> Taken {
    batch.withLock { batch in
      if batch.isEmpty {
        // A consumer that is never without an event does not wait, and so has to be asked here whether it is cancelled.
        let isCancelled = Task.isCancelled
        let isFinished = inbox.withLock { inbox in
          if isCancelled { inbox.isFinished = true }
          if !inbox.queue.events.isEmpty { inbox.queue.takeAll(into: &batch) }
          return inbox.isFinished
        }
        if batch.isEmpty { return isFinished ? .end : .nothing }
      }
      return .element(batch.takeFirst())
    }
  }

  private func takeFromInbox() -> Taken {
    let isCancelled = Task.isCancelled
    return inbox.withLock { inbox in
      if isCancelled { inbox.isFinished = true }
      if let count = inbox.queue.takeGap(), let missed { return .element(missed(count)) }
      if !inbox.queue.events.isEmpty { return .element(inbox.queue.takeFirst(as: Element.self)) }
      return inbox.isFinished ? .end : .nothing
    }
  }
}
