/// The events of one type, as an asynchronous sequence.
///
/// Each iterator is a subscriber of its own. It holds every event that is posted after it was made, and its end ends no
/// other iterator. The first iterator also holds the events since the *sequence* was made, so no event is lost before a
/// task begins to iterate. A body that an application runs again and again may iterate a sequence that was made outside
/// of it: in each run, also the first, it gets the events since its own loop began.
///
///     let prices = bus.events(PriceDidChange.self)
///     await application.run(while: .active) {
///       for await price in prices { show(price) }
///     }
///
/// When the iterating task is cancelled or the bus is released, the iterator ends after the events that it holds. After
/// the release of the sequence's subject no new event arrives, but the iterator may end much later, so cancel its task.
/// Releasing an iterator ends its subscription. Copies of one iterator share its events: each event goes to one of
/// them, and the cancellation of a task that iterates one of them ends all.
public struct EventSequence<Element: Sendable>: AsyncSequence, Sendable {
  private let source: EventSource<Element>

  init(_ source: EventSource<Element>) { self.source = source }

  /// Makes an iterator over the events from now on, which has subscribed when this method returns.
  ///
  /// The first iterator begins with the events since the sequence was made, unless a body or loop of an application
  /// makes it, and the sequence was made outside of that.
  public func makeAsyncIterator() -> Iterator { Iterator(source.takeConsumer()) }

  /// An iterator over the events of one type; it suspends while it holds no event.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline let buffer: EventBuffer<Element>
    /// Ends with the last copy of the iterator.
    private let consumer: EventConsumer<Element>

    init(_ consumer: EventConsumer<Element>) { (buffer, self.consumer) = (consumer.buffer, consumer) }

    /// Whether the iterator holds no event, and none will come; tells a nil of ``nextIfHeld()`` at the end from one in
    /// between.
    public var isAtEnd: Bool { buffer.isAtEnd }

    /// Returns the next event that is held, without waiting; nil if none is held, also at the end (``isAtEnd``).
    public mutating func nextIfHeld() -> Element? { takeHeld() }

    /// Returns the next event; nil once no event is held and the task is cancelled or the bus has been released.
    public mutating func next() async -> Element? { await next(isolation: nil) }

    /// Returns the next event, without leaving the caller's actor; nil once no event is held and the task is cancelled
    /// or the bus has been released.
    ///
    /// - Parameter actor: the isolation of the caller, which suspends only when no event is held.
    /// - Returns: the next event, or nil.
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
        // Never nil: the allocation has room for one element, even for one of size zero.
        let place = place.baseAddress.unsafelyUnwrapped
        return buffer.take(into: place) ? place.move() : nil
      }
    }
  }
}

extension EventBus {
  /// Returns the events of a type from now on, as an asynchronous sequence without a limit to the events that it holds.
  ///
  /// The subscription has taken effect when this method returns, so no event is lost before the first `next()`. To
  /// await one event:
  ///
  ///     var prices = bus.events(PriceDidChange.self).makeAsyncIterator()
  ///     let next = await prices.next()
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the sequence stands in the order of delivery.
  ///   - replay: `.latest` to receive the latest event of a sticky type first.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  /// - Returns: the sequence, which has subscribed.
  public func events<E: EventBus.Event>(
    _ type: E.Type = E.self, from subject: Subject? = nil, priority: Priority = .normal,
    replay: Replay<E> = .none, label: String? = nil, fileID: String = #fileID, line: Int = #line
  ) -> EventSequence<E> {
    let details = SubscriptionDetails(nil, priority, label, fileID, line)
    return registerSequence(of: type, from: subject, details, replay: replay) {
      EventBuffer<E>(.unbounded, missed: nil) { event, _ in event.assumingMemoryBound(to: E.self).pointee }
    }
  }

  /// Returns the events of a type from now on, as an asynchronous sequence with a bounded buffer, which reports how
  /// many events it lost.
  ///
  /// The subscription has taken effect when this method returns.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the sequence stands in the order of delivery.
  ///   - replay: `.latest` to receive the latest event of a sticky type first.
  ///   - buffering: how many events the sequence holds, and which event is dropped when it is full.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  /// - Returns: the sequence, which has subscribed.
  public func events<E: EventBus.Event>(
    _ type: E.Type = E.self, from subject: Subject? = nil, priority: Priority = .normal,
    replay: Replay<E> = .none, buffering: Buffering, label: String? = nil, fileID: String = #fileID,
    line: Int = #line
  ) -> EventSequence<Received<E>> {
    let details = SubscriptionDetails(nil, priority, label, fileID, line)
    return registerSequence(of: type, from: subject, details, replay: replay) {
      EventBuffer<Received<E>>(buffering, missed: { .missed($0) }) { event, _ in
        .event(event.assumingMemoryBound(to: E.self).pointee)
      }
    }
  }
}
