/// The events of one type, as an asynchronous sequence.
///
/// Each iterator is a subscriber of its own: it holds every event from its making on, and its end ends no other iterator. The first
/// iterator holds events from the making of the *sequence* on, so that nothing is lost before a task begins to iterate. A sequence
/// that is kept can be iterated again and again, for instance in each run of a body:
///
///     let prices = bus.events(PriceDidChange.self)
///     application.run(while: .active) {
///       for await price in prices { show(price) }
///     }
///
/// When the iterating task is cancelled or the bus is released, the iterator ends behind the events that it holds. One of a sequence
/// with a subject may end when the subject is gone. The subscription of an iterator ends when the iterator is released.
/// Copies of one iterator share its events: each event goes to one of them.
public struct EventSequence<Element: Sendable>: AsyncSequence, Sendable {
  private let source: EventSource<Element>

  init(_ source: EventSource<Element>) { self.source = source }

  /// An iterator over what comes from now on; the first one begins with what was posted since the sequence was made.
  ///
  /// It has subscribed when this returns.
  public func makeAsyncIterator() -> Iterator { Iterator(source.takeConsumer()) }

  /// Takes one event after another.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline let buffer: EventBuffer<Element>
    /// Cancels with the last copy.
    let subscription: Subscription?

    init(_ consumer: EventConsumer<Element>) { (buffer, subscription) = (consumer.buffer, consumer.subscription) }

    /// The next event that is held, without waiting; nil if none is.
    ///
    /// It is also nil at the end of the iterator.
    public mutating func nextIfHeld() -> Element? { takeHeld() }

    /// The next event; nil when the task is cancelled or the bus is gone.
    public mutating func next() async -> Element? { await next(isolation: nil) }

    /// The next event, without leaving the caller's actor; nil when the task is cancelled or the bus is gone.
    ///
    /// Inlined into the loop, which suspends only when no event is held.
    @inlinable
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      while true {
        if let element = takeHeld() { return element }
        guard await buffer.hasMore() else { return nil }
      }
    }

    @inlinable
    func takeHeld() -> Element? {
      withUnsafeTemporaryAllocation(of: Element.self, capacity: 1) { place in
        // The allocation holds one element, which has a place of its own even if it takes no space.
        let place = place.baseAddress.unsafelyUnwrapped
        return buffer.take(into: place) ? place.move() : nil
      }
    }
  }
}

extension EventBus {
  /// The events of a type that are posted from now on, as an asynchronous sequence that holds as many as come.
  ///
  /// The subscription has taken effect when this returns: nothing is lost before the first `next()`.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the sequence stands in the order of delivery.
  ///   - replay: whether the latest event of a sticky type comes first; exactly once, also when others post meanwhile.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  /// - Returns: a sequence that has subscribed.
  public func events<E: BusEvent>(
    _ type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    replay: Replay = .none, label: String? = nil, fileID: String = #fileID, line: Int = #line
  ) -> EventSequence<E> {
    let details = SubscriptionDetails(subject: subject, priority: priority, label: label, fileID: fileID, line: line)
    return registerSequence(type, details, replay: replay)
  }

  /// The events of a type that are posted from now on, as an asynchronous sequence that says what it loses.
  ///
  /// The subscription has taken effect when this returns.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the sequence stands in the order of delivery.
  ///   - replay: whether the latest event of a sticky type comes first; exactly once, also when others post meanwhile.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - buffering: how many events it holds, and which is dropped when there is one too many.
  /// - Returns: a sequence that has subscribed.
  public func events<E: BusEvent>(
    _ type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    replay: Replay = .none, label: String? = nil, fileID: String = #fileID, line: Int = #line, buffering: Buffering
  ) -> EventSequence<Received<E>> {
    let details = SubscriptionDetails(subject: subject, priority: priority, label: label, fileID: fileID, line: line)
    return registerSequence(type, details, buffering, replay: replay)
  }
}
