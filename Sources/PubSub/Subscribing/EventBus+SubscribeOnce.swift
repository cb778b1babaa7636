internal import CPubSub
internal import Scheduling

// Subscribing to the next event only.

extension EventBus {
  /// Subscribes a handler to the next event of a type; it runs on the poster's thread, before that post returns.
  ///
  /// The handler is called at most once, however many threads post. Its subscription ends before the call, so a post
  /// inside the handler does not reach it. Asynchronous code awaits the next event of a sequence:
  ///
  ///     var prices = bus.events(PriceDidChange.self).makeAsyncIterator()
  ///     let next = await prices.next()
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with the event. An error that it throws is posted as ``HandlerFailure``.
  /// - Returns: the subscription; if it is released before the event comes, the handler is not called.
  public func subscribeOnce<E: Event>(
    to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @Sendable (E) throws -> Void
  ) -> Subscription {
    let once = OnceOnly()
    let handler = pubsub_handler.of { (event: E) in if once.begin() { try handler(event) } }
    return once.keep(register(type, from: subject, priority, label, fileID, line, handler))
  }

  /// Subscribes a main-actor handler to the next event of a type; it runs on the main actor, before that post returns.
  ///
  /// The handler is called at most once. Its subscription ends before the call, so a post inside the handler does not
  /// reach it. Asynchronous code awaits the next event of a sequence:
  ///
  ///     var prices = bus.events(PriceDidChange.self).makeAsyncIterator()
  ///     let next = await prices.next()
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with the event. An error that it throws is posted as ``HandlerFailure``.
  /// - Returns: the subscription; if it is released before the event comes, the handler is not called.
  public func subscribeOnce<E: MainActorEvent>(
    to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @MainActor (E) throws -> Void
  ) -> Subscription {
    let once = OnceOnly()
    let handler = pubsub_handler.of(onMainActor: { (event: E) in if once.begin() { try handler(event) } })
    return once.keep(register(type, from: subject, priority, label, fileID, line, handler))
  }
}

/// State that ends a subscription at its first event.
private final class OnceOnly: Sendable {
  private struct State {
    var hasBegun = false
    weak var subscription: Subscription?
  }

  private let state = Guarded(State())

  /// Returns whether this is the first event; if so, ends the subscription.
  func begin() -> Bool {
    let (isFirst, subscription) = state.withLock { state in
      defer { state.hasBegun = true }
      return (!state.hasBegun, state.subscription)
    }
    if isFirst { subscription?.cancel() }
    return isFirst
  }

  /// Stores the subscription, and cancels it at once if an event on another thread has come first.
  func keep(_ subscription: Subscription) -> Subscription {
    let hasBegun = state.withLock { state in
      state.subscription = subscription
      return state.hasBegun
    }
    if hasBegun { subscription.cancel() }
    return subscription
  }
}
