internal import CPubSub

// Subscribing to an `Event`. The overloads differ in the type of the handler. The one without `throws` is the fast
// path. The one with `throws` is needed: without it the compiler would take a synchronous closure that throws as an
// asynchronous one.

extension EventBus {
  /// Subscribes a handler that runs on the poster's thread, before the post returns.
  ///
  /// The subscription has taken effect when this method returns. Posts under way do not see it.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with each event.
  /// - Returns: the subscription, which cancels when it is released.
  public func subscribe<E: Event>(
    to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    label: String? = nil, fileID: String = #fileID, line: Int = #line, _ handler: @escaping @Sendable (E) -> Void
  ) -> Subscription {
    register(type, from: subject, priority, label, fileID, line, .of(handler))
  }

  /// Subscribes a handler that may throw; it runs on the poster's thread, before the post returns.
  ///
  /// If the handler throws, the other handlers still run, and the error is posted as ``HandlerFailure``.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with each event.
  /// - Returns: the subscription, which cancels when it is released.
  public func subscribe<E: Event>(
    to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @Sendable (E) throws -> Void
  ) -> Subscription {
    register(type, from: subject, priority, label, fileID, line, .of(handler))
  }

  /// Subscribes a handler that receives the event and the object that posted it; it runs on the poster's thread, before
  /// the post returns.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with each event and the subject of the post, which is nil if the post named none. An error
  ///     that it throws is posted as ``HandlerFailure``.
  /// - Returns: the subscription, which cancels when it is released.
  public func subscribe<E: Event>(
    to type: E.Type = E.self, priority: Priority = .normal, label: String? = nil, fileID: String = #fileID,
    line: Int = #line, _ handler: @escaping @Sendable (E, (any AnyObject & Sendable)?) throws -> Void
  ) -> Subscription {
    register(type, from: nil, priority, label, fileID, line, .of { (event: E) in try handler(event, Posting.subject) })
  }

  /// Subscribes an asynchronous handler with a mailbox of its own: it handles one event at a time, in the order of
  /// posting.
  ///
  /// It never blocks the poster. An error that the handler throws is posted as ``HandlerFailure``.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - replay: `.latest` to receive the latest event of a sticky type first: exactly once, even if other threads post
  ///     at the same time.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with each event.
  /// - Returns: the subscription, which cancels when it is released.
  public func subscribe<E: Event>(
    to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    replay: Replay = .none, label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @isolated(any) @Sendable (E) async throws -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(subject: subject, priority: priority, label: label, fileID: fileID, line: line)
    return Subscription(registerMailbox(type, details, replay: replay, handle: handler))
  }

  /// Subscribes a handler that runs on the main actor, with a mailbox of its own: it handles one event at a time, in
  /// the order of posting.
  ///
  /// It never blocks the poster. An error that the handler throws is posted as ``HandlerFailure``.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - replay: `.latest` to receive the latest event of a sticky type first: exactly once, even if other threads post
  ///     at the same time.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - actor: the main actor, written `.shared`.
  ///   - handler: called with each event.
  /// - Returns: the subscription, which cancels when it is released.
  public func subscribe<E: Event>(
    to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    replay: Replay = .none, label: String? = nil, fileID: String = #fileID, line: Int = #line, on actor: MainActor,
    _ handler: @escaping @MainActor (E) async throws -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(subject: subject, priority: priority, label: label, fileID: fileID, line: line)
    return Subscription(registerMailbox(type, details, replay: replay, handle: handler))
  }
}
