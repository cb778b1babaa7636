internal import CPubSub

// Subscribing for an owner. The bus holds the owner weakly, keeps it alive during each call, and passes it to the
// handler. The subscription ends when the owner is released. Releasing the `Subscription` cancels nothing, so callers
// may discard it. For that reason the initializer of an actor can subscribe the actor.

extension EventBus {
  /// Subscribes a handler for an owner; it runs on the poster's thread, before the post returns.
  ///
  /// If the handler throws, the other handlers still run, and the error is posted as ``HandlerFailure``.
  ///
  /// - Parameters:
  ///   - owner: held weakly and passed to the handler; the subscription ends when the owner is released. Its class is
  ///     `Sendable`: a class on the main actor, an actor, or a final class whose stored properties are constants.
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with the owner and each event. Use the owner that is passed, and capture nothing: an owner
  ///     that the handler captures (`self.`) is not released before the bus. Other captured objects outlive the owner
  ///     until a later event of this type.
  /// - Returns: the subscription, to cancel it earlier; may be discarded.
  @_disfavoredOverload @discardableResult
  public func subscribe<Owner: AnyObject & Sendable, E: Event>(
    _ owner: Owner, to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil,
    priority: Priority = .normal, label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @Sendable (Owner, E) throws -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(
      subject: subject, priority: priority, label: label, fileID: fileID, line: line, owner: owner)
    return register(type, Registration.owned(details, in: core, by: owner, handler))
  }

  /// Subscribes an asynchronous handler for an owner, with a mailbox of its own: it handles one event at a time, in the
  /// order of posting.
  ///
  /// It never blocks the poster. An error that the handler throws is posted as ``HandlerFailure``.
  ///
  /// - Parameters:
  ///   - owner: held weakly and passed to the handler; the subscription ends when the owner is released. Its class is
  ///     `Sendable`: a class on the main actor, an actor, or a final class whose stored properties are constants.
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - replay: `.latest` to receive the latest event of a sticky type first, and then every later event, exactly
  ///     once each.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with the owner and each event. Use the owner that is passed, and capture nothing: an owner
  ///     that the handler captures (`self.`) is not released before the bus. Other captured objects outlive the owner
  ///     until a later event of this type.
  /// - Returns: the subscription, to cancel it earlier; may be discarded.
  @_disfavoredOverload @discardableResult
  public func subscribe<Owner: AnyObject & Sendable, E: Event>(
    _ owner: Owner, to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil,
    priority: Priority = .normal, replay: Replay = .none, label: String? = nil, fileID: String = #fileID,
    line: Int = #line,
    _ handler: @escaping @isolated(any) @Sendable (Owner, E) async throws -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(
      subject: subject, priority: priority, label: label, fileID: fileID, line: line, owner: owner)
    return Subscription(registerMailbox(type, details, of: owner, replay: replay, handle: handler))
  }

  /// Subscribes a handler for an owner; it runs on the main actor, with a mailbox of its own: one event at a time, in
  /// the order of posting.
  ///
  /// It never blocks the poster. An error that the handler throws is posted as ``HandlerFailure``.
  ///
  /// - Parameters:
  ///   - owner: held weakly and passed to the handler; the subscription ends when the owner is released. Its class is
  ///     `Sendable`: a class on the main actor, an actor, or a final class whose stored properties are constants.
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - replay: `.latest` to receive the latest event of a sticky type first, and then every later event, exactly
  ///     once each.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - actor: the main actor, written `.shared`.
  ///   - handler: called with the owner and each event. Use the owner that is passed, and capture nothing: an owner
  ///     that the handler captures (`self.`) is not released before the bus. Other captured objects outlive the owner
  ///     until a later event of this type.
  /// - Returns: the subscription, to cancel it earlier; may be discarded.
  @_disfavoredOverload @discardableResult
  public func subscribe<Owner: AnyObject & Sendable, E: Event>(
    _ owner: Owner, to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil,
    priority: Priority = .normal, replay: Replay = .none, label: String? = nil, fileID: String = #fileID,
    line: Int = #line,
    on actor: MainActor, _ handler: @escaping @MainActor (Owner, E) async throws -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(
      subject: subject, priority: priority, label: label, fileID: fileID, line: line, owner: owner)
    return Subscription(registerMailbox(type, details, of: owner, replay: replay, handle: handler))
  }

  /// Subscribes a main-actor handler for an owner; it runs on the main actor, before the post returns.
  ///
  /// An error that the handler throws is posted as ``HandlerFailure``.
  ///
  /// - Parameters:
  ///   - owner: held weakly and passed to the handler; the subscription ends when the owner is released. Its class is
  ///     `Sendable`: a class on the main actor, an actor, or a final class whose stored properties are constants.
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with the owner and each event. Use the owner that is passed, and capture nothing: an owner
  ///     that the handler captures (`self.`) is not released before the bus. Other captured objects outlive the owner
  ///     until a later event of this type.
  /// - Returns: the subscription, to cancel it earlier; may be discarded.
  @_disfavoredOverload @discardableResult
  public func subscribe<Owner: AnyObject & Sendable, E: MainActorEvent>(
    _ owner: Owner, to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil,
    priority: Priority = .normal, label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @MainActor (Owner, E) throws -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(
      subject: subject, priority: priority, label: label, fileID: fileID, line: line, owner: owner)
    return register(type, Registration.owned(details, in: core, by: owner, onMainActor: handler))
  }

  /// Subscribes a main-actor handler for an owner, and first calls it with the latest event of a sticky type, before
  /// this method returns.
  ///
  /// Later, the handler receives every event exactly once; it runs on the main actor, before the post returns.
  ///
  /// - Parameters:
  ///   - owner: held weakly and passed to the handler; the subscription ends when the owner is released. Its class is
  ///     `Sendable`: a class on the main actor, an actor, or a final class whose stored properties are constants.
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - replay: `.latest` to call the handler with the latest event now, if there is one; `.none` for later events
  ///     only.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with the owner and each event. Use the owner that is passed, and capture nothing: an owner
  ///     that the handler captures (`self.`) is not released before the bus. Other captured objects outlive the owner
  ///     until a later event of this type.
  /// - Returns: the subscription, to cancel it earlier; may be discarded.
  @_disfavoredOverload @discardableResult
  @MainActor public func subscribe<Owner: AnyObject & Sendable, E: MainActorEvent>(
    _ owner: Owner, to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil,
    priority: Priority = .normal, replay: Replay, label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @MainActor (Owner, E) -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(
      subject: subject, priority: priority, label: label, fileID: fileID, line: line, owner: owner)
    let subscription = register(type, Registration.owned(details, in: core, by: owner, onMainActor: handler))
    // No such event can be posted between these two steps: main-actor events are posted on the main actor, which is
    // busy here.
    if replay == .latest, let latest = latest(type, for: subscription) { handler(owner, latest) }
    return subscription
  }

  /// Subscribes an asynchronous main-actor handler for an owner, with a mailbox of its own: one event at a time, in the
  /// order of posting.
  ///
  /// The handler runs after `post` has returned; `postAndWait` waits for it. If a `post` announces a change, the
  /// handler therefore runs after the change. For a *will…* event of AppLifecycle, except `WillTerminate`, the compiler
  /// warns of a handler with `await`, unless you pass `runs: .afterChange`.
  ///
  /// It never blocks the poster. An error that the handler throws is posted as ``HandlerFailure``.
  ///
  /// - Parameters:
  ///   - owner: held weakly and passed to the handler; the subscription ends when the owner is released. Its class is
  ///     `Sendable`: a class on the main actor, an actor, or a final class whose stored properties are constants.
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - replay: `.latest` to receive the latest event of a sticky type first, and then every later event, exactly
  ///     once each.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with the owner and each event. Use the owner that is passed, and capture nothing: an owner
  ///     that the handler captures (`self.`) is not released before the bus. Other captured objects outlive the owner
  ///     until a later event of this type.
  /// - Returns: the subscription, to cancel it earlier; may be discarded.
  @_disfavoredOverload @discardableResult
  public func subscribe<Owner: AnyObject & Sendable, E: MainActorEvent>(
    _ owner: Owner, to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil,
    priority: Priority = .normal, replay: Replay = .none, label: String? = nil, fileID: String = #fileID,
    line: Int = #line,
    _ handler: @escaping @MainActor (Owner, E) async throws -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(
      subject: subject, priority: priority, label: label, fileID: fileID, line: line, owner: owner)
    return Subscription(registerMailbox(type, details, of: owner, replay: replay, handle: handler))
  }

  /// Subscribes a handler for an actor; it runs on the actor, with a mailbox of its own: one event at a time, in the
  /// order of posting.
  ///
  /// The handler needs no `await` for the actor. It never blocks the poster. An error that the handler throws is posted
  /// as ``HandlerFailure``.
  ///
  /// - Parameters:
  ///   - owner: held weakly and passed to the handler; the subscription ends when the owner is released. Its class is
  ///     `Sendable`: a class on the main actor, an actor, or a final class whose stored properties are constants.
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - replay: `.latest` to receive the latest event of a sticky type first, and then every later event, exactly
  ///     once each.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with the owner and each event. Use the owner that is passed, and capture nothing: an owner
  ///     that the handler captures (`self.`) is not released before the bus. Other captured objects outlive the owner
  ///     until a later event of this type.
  /// - Returns: the subscription, to cancel it earlier; may be discarded.
  @discardableResult
  public func subscribe<Owner: Actor, E: BusEvent>(
    _ owner: Owner, to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil,
    priority: Priority = .normal, replay: Replay = .none, label: String? = nil, fileID: String = #fileID,
    line: Int = #line,
    _ handler: @escaping @Sendable (isolated Owner, E) throws -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(
      subject: subject, priority: priority, label: label, fileID: fileID, line: line, owner: owner)
    return Subscription(registerMailbox(type, details, on: owner, replay: replay, handle: handler))
  }
}
