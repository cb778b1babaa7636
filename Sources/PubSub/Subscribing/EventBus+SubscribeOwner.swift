internal import CPubSub

// Subscribing for an owner: the bus holds the owner weakly, passes it to the handler, keeps it alive during the call, and
// ends the subscription when the owner is gone. Releasing the `Subscription` cancels nothing, so it may be discarded; that
// is also why it can be made in the initialiser of an actor.

extension EventBus {
  /// Subscribes a handler for an owner; it runs on the poster's thread, before the post returns.
  ///
  /// - Parameters:
  ///   - owner: held weakly, passed to the handler; the subscription ends when it is gone. Its class is `Sendable`: a class on
  ///     the main actor, an actor, or a final class whose stored properties are constants.
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with the owner and each event. It uses the owner that it is passed: an owner that it captures (`self.`)
  ///     is not released before the bus.
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

  /// Subscribes an asynchronous handler for an owner, with a mailbox of its own: serial and in posting order.
  ///
  /// With `replay` it gets the latest event of a sticky type first. The other parameters as for a synchronous handler.
  @_disfavoredOverload @discardableResult
  public func subscribe<Owner: AnyObject & Sendable, E: Event>(
    _ owner: Owner, to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil,
    priority: Priority = .normal, replay: Replay = .none, label: String? = nil, fileID: String = #fileID,
    line: Int = #line,
    _ handler: @escaping @Sendable (Owner, E) async throws -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(
      subject: subject, priority: priority, label: label, fileID: fileID, line: line, owner: owner)
    let registration = registerMailbox(type, details, replay: replay) { [weak owner] (event: E) in
      if let owner { try await handler(owner, event) }
    }
    return Subscription(registration)
  }

  /// Subscribes a handler for an owner that runs on the main actor, from a mailbox of its own: serial, in posting order.
  ///
  /// With `replay` it gets the latest event of a sticky type first. The other parameters as for a synchronous handler.
  @_disfavoredOverload @discardableResult
  public func subscribe<Owner: AnyObject & Sendable, E: Event>(
    _ owner: Owner, to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil,
    priority: Priority = .normal, replay: Replay = .none, label: String? = nil, fileID: String = #fileID,
    line: Int = #line,
    on actor: MainActor, _ handler: @escaping @MainActor (Owner, E) async throws -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(
      subject: subject, priority: priority, label: label, fileID: fileID, line: line, owner: owner)
    let registration = registerMailbox(type, details, replay: replay) { [weak owner] (event: E) in
      if let owner { try await HandlerRun.onMainActor { try await handler(owner, event) } }
    }
    return Subscription(registration)
  }

  /// Subscribes a main-actor handler for an owner; it runs on the main actor, before the post returns.
  ///
  /// Parameters as for an event that is posted from anywhere.
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

  /// Subscribes a main-actor handler for an owner that is told the latest event of a sticky type first, before this returns.
  ///
  /// Every later event follows, exactly once each. Parameters as for a handler without replay.
  @_disfavoredOverload @discardableResult
  @MainActor public func subscribe<Owner: AnyObject & Sendable, E: MainActorEvent>(
    _ owner: Owner, to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil,
    priority: Priority = .normal, replay: Replay, label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @MainActor (Owner, E) -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(
      subject: subject, priority: priority, label: label, fileID: fileID, line: line, owner: owner)
    let subscription = register(type, Registration.owned(details, in: core, by: owner, onMainActor: handler))
    // Nothing can be posted between the two steps, as posts of such an event are made on the main actor, too.
    if replay == .latest, let latest = latest(type, for: subscription) { handler(owner, latest) }
    return subscription
  }

  /// Subscribes an asynchronous main-actor handler for an owner, with a mailbox of its own: serial and in posting order.
  ///
  /// It runs after the post has returned. Where the event announces a change, it therefore runs after the change: in a handler of
  /// a *will…* event of AppLifecycle the compiler warns of `await`, unless `runs: .afterChange` is passed.
  ///
  /// With `replay` it gets the latest event of a sticky type first. The other parameters as for a synchronous handler.
  @_disfavoredOverload @discardableResult
  public func subscribe<Owner: AnyObject & Sendable, E: MainActorEvent>(
    _ owner: Owner, to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil,
    priority: Priority = .normal, replay: Replay = .none, label: String? = nil, fileID: String = #fileID,
    line: Int = #line,
    _ handler: @escaping @MainActor (Owner, E) async throws -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(
      subject: subject, priority: priority, label: label, fileID: fileID, line: line, owner: owner)
    let registration = registerMailbox(type, details, replay: replay) { [weak owner] (event: E) in
      if let owner { try await HandlerRun.onMainActor { try await handler(owner, event) } }
    }
    return Subscription(registration)
  }

  /// Subscribes a handler for an actor; it runs on the actor, without `await`, from a mailbox: serial, in posting order.
  ///
  /// With `replay` it gets the latest event of a sticky type first. The other parameters as for a synchronous handler.
  @discardableResult
  public func subscribe<Owner: Actor, E: BusEvent>(
    _ owner: Owner, to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil,
    priority: Priority = .normal, replay: Replay = .none, label: String? = nil, fileID: String = #fileID,
    line: Int = #line,
    _ handler: @escaping @Sendable (isolated Owner, E) throws -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(
      subject: subject, priority: priority, label: label, fileID: fileID, line: line, owner: owner)
    let registration = registerMailbox(type, details, replay: replay) { [weak owner] (event: E) in
      if let owner { try await HandlerRun.on(owner, with: event, handler) }
    }
    return Subscription(registration)
  }
}
