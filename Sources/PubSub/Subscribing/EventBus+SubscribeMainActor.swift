internal import CPubSub

// Subscribing to a `MainActorEvent`: a closure written here is a main-actor closure without annotation.

extension EventBus {
  /// Subscribes a handler that runs on the main actor, before the post returns.
  ///
  /// The subscription has taken effect when this returns. Posts under way do not see it. May be called from anywhere.
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
  public func subscribe<E: MainActorEvent>(
    to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    label: String? = nil, fileID: String = #fileID, line: Int = #line, _ handler: @escaping @MainActor (E) -> Void
  ) -> Subscription {
    register(type, from: subject, priority, label, fileID, line, .of(onMainActor: handler))
  }

  /// Subscribes a handler that may throw; it runs on the main actor, before the post returns.
  ///
  /// What it throws stops no other handler and is posted as ``HandlerFailure``. Parameters as for a handler that does not
  /// throw.
  public func subscribe<E: MainActorEvent>(
    to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @MainActor (E) throws -> Void
  ) -> Subscription {
    register(type, from: subject, priority, label, fileID, line, .of(onMainActor: handler))
  }

  /// Subscribes a main-actor handler that is called with the object that an event was posted from, too; it runs on the main actor,
  /// before the post returns.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with each event, and with the post's subject; nil where it named none. An error that it throws is posted as
  ///     ``HandlerFailure``.
  /// - Returns: the subscription, which cancels when it is released.
  public func subscribe<E: MainActorEvent>(
    to type: E.Type = E.self, priority: Priority = .normal, label: String? = nil, fileID: String = #fileID,
    line: Int = #line, _ handler: @escaping @MainActor (E, (any AnyObject & Sendable)?) throws -> Void
  ) -> Subscription {
    let handler = pubsub_handler.of(onMainActor: { (event: E) in try handler(event, Posting.subject) })
    return register(type, from: nil, priority, label, fileID, line, handler)
  }

  /// Subscribes an asynchronous main-actor handler with a mailbox of its own: serial and in posting order.
  ///
  /// It runs after the post has returned. Where the event announces a change, it therefore runs after the change: in a handler of
  /// a *will…* event of AppLifecycle the compiler warns of `await`, unless `runs: .afterChange` is passed.
  ///
  /// It never blocks the poster. What it throws is posted as ``HandlerFailure``. With `replay` it gets the latest event of
  /// a sticky type first, and then every later one, exactly once each. The other parameters as for a synchronous handler.
  public func subscribe<E: MainActorEvent>(
    to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    replay: Replay = .none, label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @MainActor (E) async throws -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(subject: subject, priority: priority, label: label, fileID: fileID, line: line)
    let registration = registerMailbox(type, details, replay: replay) { event in
      try await HandlerRun.onMainActor { try await handler(event) }
    }
    return Subscription(registration)
  }

  /// Subscribes a main-actor handler that is told the latest event of a sticky type first, before this returns.
  ///
  /// Every later event follows, exactly once each. Parameters as for a handler without replay.
  @MainActor public func subscribe<E: MainActorEvent>(
    to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    replay: Replay, label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @MainActor (E) -> Void
  ) -> Subscription {
    let subscription = register(type, from: subject, priority, label, fileID, line, .of(onMainActor: handler))
    // Nothing can be posted between the two steps, as posts of such an event are made on the main actor, too.
    if replay == .latest, let latest = latest(type, for: subscription) { handler(latest) }
    return subscription
  }
}
