/// The events of one type, as an asynchronous sequence for one consumer.
///
/// It holds what is posted between its making and its first `next()`, without bound. It ends when the task that iterates is
/// cancelled or the bus is released, and its subscription ends when the sequence and its iterators are. Two iterators of
/// one sequence share it: each event goes to one of them. For another consumer make another sequence.
public struct EventSequence<Element: Sendable>: AsyncSequence, Sendable {
  let buffer: EventBuffer<Element>

  /// An iterator over what is held and what comes.
  public func makeAsyncIterator() -> Iterator { Iterator(buffer: buffer) }

  /// Takes one event after another.
  public struct Iterator: AsyncIteratorProtocol {
    let buffer: EventBuffer<Element>

    /// The next event; nil when the task is cancelled or the bus is gone.
    public mutating func next() async -> Element? { await next(isolation: nil) }

    /// The next event, without leaving the caller's actor; nil when the task is cancelled or the bus is gone.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? { await buffer.next() }
  }
}

extension EventBus {
  /// The events of a type that are posted from now on, as an asynchronous sequence.
  ///
  /// The subscription has taken effect when this returns: nothing is lost before the first `next()`.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the sequence stands in the order of delivery.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  /// - Returns: a sequence for one consumer.
  public func events<E: BusEvent>(
    _ type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    label: String? = nil, fileID: String = #fileID, line: Int = #line
  ) -> EventSequence<E> {
    let buffer = EventBuffer<E>()
    let details = SubscriptionDetails(subject: subject, priority: priority, label: label, fileID: fileID, line: line)
    // The bus holds the buffer's inside only: when the last sequence or iterator goes, the buffer cancels.
    let registration = register(type, details) { [inside = buffer.inside] (event: E) in inside.push(event) }
    buffer.keep(Subscription(registration))
    registration.whenCancelled { [weak inside = buffer.inside] in inside?.finish() }
    return EventSequence(buffer: buffer)
  }
}

/// What a sequence and its iterators share; its end cancels the subscription.
final class EventBuffer<Element: Sendable>: Sendable {
  let inside = Inside()
  private let subscription = Guarded<Subscription?>(nil)

  func keep(_ subscription: Subscription) { self.subscription.withLock { $0 = subscription } }

  func next() async -> Element? {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { inside.wait($0) }
    } onCancel: {
      inside.finish()
    }
  }

  /// What the bus pushes into; it holds no subscription, and so makes no circle.
  final class Inside: Sendable {
    private struct State {
      /// Nil where the event has been taken: what is dropped under the lock must hold nothing that could call back.
      var events: [Element?] = []
      /// Events before this index have been taken.
      var taken = 0
      var waiters: [UnsafeContinuation<Element?, Never>] = []
      var isFinished = false
    }

    private let state = Guarded(State())

    func push(_ event: Element) {
      let waiter = state.withLock { state -> UnsafeContinuation<Element?, Never>? in
        if state.isFinished { return nil }
        if !state.waiters.isEmpty { return state.waiters.removeFirst() }
        state.events.append(event)
        return nil
      }
      waiter?.resume(returning: event)
    }

    func wait(_ continuation: UnsafeContinuation<Element?, Never>) {
      let answer = state.withLock { state -> Element?? in
        if state.taken < state.events.count {
          let event = state.events[state.taken].take()
          state.taken += 1
          // Taken events are dropped when they are half of the buffer: constant time for each, on average.
          if state.taken * 2 >= state.events.count {
            state.events.removeFirst(state.taken)
            state.taken = 0
          }
          return .some(event)
        }
        if state.isFinished { return .some(nil) }
        state.waiters.append(continuation)
        return nil
      }
      if let answer { continuation.resume(returning: answer) }
    }

    /// Ends the sequence behind what it holds; whoever waits is told.
    func finish() {
      let waiters = state.withLock { state in
        state.isFinished = true
        defer { state.waiters = [] }
        return state.waiters
      }
      for waiter in waiters { waiter.resume(returning: nil) }
    }
  }
}
