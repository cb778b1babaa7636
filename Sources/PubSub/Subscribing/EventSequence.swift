/// The events of one type, as an asynchronous sequence for one consumer.
///
/// The sequence holds events from its creation on, also before the first `next()`. When the iterating task is cancelled or the
/// bus is released, the sequence ends behind the events that it holds. A sequence with a subject may end when the subject is
/// gone. The subscription ends when the sequence and its iterators are released. Two iterators of one sequence share it: each
/// event goes to one of them. For another consumer make another sequence.
public struct EventSequence<Element: Sendable>: AsyncSequence, Sendable {
  let buffer: EventBuffer<Element>
  /// Cancels with the last copy.
  let subscription: Subscription

  /// An iterator over what is held and what comes.
  public func makeAsyncIterator() -> Iterator { Iterator(buffer: buffer, subscription: subscription) }

  /// Takes one event after another.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline let buffer: EventBuffer<Element>
    let subscription: Subscription

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
  /// - Returns: a sequence for one consumer.
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
  /// - Returns: a sequence for one consumer.
  public func events<E: BusEvent>(
    _ type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    replay: Replay = .none, label: String? = nil, fileID: String = #fileID, line: Int = #line, buffering: Buffering
  ) -> EventSequence<Received<E>> {
    let details = SubscriptionDetails(subject: subject, priority: priority, label: label, fileID: fileID, line: line)
    return registerSequence(type, details, buffering, replay: replay)
  }
}
