internal import CPubSub

// Subscribing to a `MainActorEvent`. A closure that is passed to these overloads is a main-actor closure without
// annotation.

extension EventBus {
  /// Subscribes a handler that runs on the main actor, before the post returns.
  ///
  /// The subscription has taken effect when this method returns. Posts under way do not see it. Any thread may call
  /// this method.
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
  public func subscribe<E: MainActorEvent>(
    to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @MainActor (E) throws -> Void
  ) -> Subscription {
    register(type, from: subject, priority, label, fileID, line, .of(onMainActor: handler))
  }

  /// Subscribes a handler that receives the event and the object that posted it; it runs on the main actor, before the
  /// post returns.
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
  public func subscribe<E: MainActorEvent>(
    to type: E.Type = E.self, priority: Priority = .normal, label: String? = nil, fileID: String = #fileID,
    line: Int = #line, _ handler: @escaping @MainActor (E, (any AnyObject & Sendable)?) throws -> Void
  ) -> Subscription {
    let handler = pubsub_handler.of(onMainActor: { (event: E) in try handler(event, Posting.subject) })
    return register(type, from: nil, priority, label, fileID, line, handler)
  }

  /// Subscribes an asynchronous main-actor handler with a mailbox of its own: it handles one event at a time, in the
  /// order of posting.
  ///
  /// The handler runs after `post` has returned; `postAndWait` waits for it. If a `post` announces a change, the
  /// handler therefore runs after the change. For a *will…* event of AppLifecycle, except `WillTerminate`, the compiler
  /// warns of a handler with `await`, unless you pass `runs: .afterChange`.
  ///
  /// It never blocks the poster. An error that the handler throws is posted as ``HandlerFailure``.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - replay: `.latest` to receive the latest event of a sticky type first, and then every later event, exactly once
  ///     each.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with each event.
  /// - Returns: the subscription, which cancels when it is released.
  public func subscribe<E: MainActorEvent>(
    to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    replay: Replay = .none, label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @MainActor (E) async throws -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(subject: subject, priority: priority, label: label, fileID: fileID, line: line)
    return Subscription(registerMailbox(type, details, replay: replay, handle: handler))
  }

  /// Subscribes a main-actor handler, and first calls it with the latest event of a sticky type, before this method
  /// returns.
  ///
  /// Later, the handler receives every event exactly once; it runs on the main actor, before the post returns.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - replay: `.latest` to call the handler with the latest event now, if there is one; `.none` for later events
  ///     only.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with each event.
  /// - Returns: the subscription, which cancels when it is released.
  @MainActor public func subscribe<E: MainActorEvent>(
    to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    replay: Replay, label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @MainActor (E) -> Void
  ) -> Subscription {
    let subscription = register(type, from: subject, priority, label, fileID, line, .of(onMainActor: handler))
    // No such event can be posted between these two steps: main-actor events are posted on the main actor, which is
    // busy here.
    if replay == .latest, let latest = latest(type, for: subscription) { handler(latest) }
    return subscription
  }
}
