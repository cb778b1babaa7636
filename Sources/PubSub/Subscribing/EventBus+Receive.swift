// `receive`: a mailbox holds the events, and the handler is called later. To have it called before `post` returns, use
// `subscribe`.

extension EventBus {
  /// Subscribes a handler with a mailbox; it is called later, with one event at a time, in the order of posting.
  ///
  /// The handler runs on the actor of the closure: inside main-actor code on the main actor, without annotation. A
  /// closure without an actor runs on the bus's executor. Events of `postAndWait` are never dropped.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - replay: `.latest` to receive the latest event of a sticky type first.
  ///   - buffering: how many events the mailbox holds, and which event is dropped when it is full.
  ///   - once: whether the subscription ends with its first event, however many threads post.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with each event. An error that it throws is posted as ``EventBus/HandlerFailure``.
  ///   - missed: called in the place of dropped events, with their number; nil to ignore the loss.
  /// - Returns: the subscription, which cancels when it is released.
  public func receive<E: Event>(
    _ type: E.Type = E.self, from subject: Subject? = nil, priority: Priority = .normal, replay: Replay<E> = .none,
    buffering: Buffering = .unbounded, once: Bool = false, label: String? = nil, fileID: String = #fileID,
    line: Int = #line, @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (E) async throws -> Void,
    @_inheritActorContext missed: (@isolated(any) @Sendable (Int) async throws -> Void)? = nil
  ) -> Subscription {
    let details = SubscriptionDetails(subject, priority, label, fileID, line)
    let calls = Mailbox<E>.Handler(call: calling(handler), missed: missed.map { calling($0) })
    return Subscription(registerMailbox(type, details, replay, buffering, once: once, calls))
  }

  /// Subscribes a handler with a mailbox for an owner; it is called later, with one event at a time, in order.
  ///
  ///     bus.receive(PriceDidChange.self, for: self, replay: .latest) { label, event in
  ///       label.text = "\(event.price)"
  ///     }
  ///
  /// The handler runs on the actor of the closure: inside main-actor code on the main actor, without annotation. Events
  /// of `postAndWait` are never dropped.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - owner: held weakly, and passed to the handler; its release ends the subscription.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - replay: `.latest` to receive the latest event of a sticky type first.
  ///   - buffering: how many events the mailbox holds, and which event is dropped when it is full.
  ///   - once: whether the subscription ends with its first event, however many threads post.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with the owner, which it must not capture, and each event; may throw.
  ///   - missed: called in the place of dropped events, with their number; nil to ignore the loss.
  /// - Returns: the subscription, to cancel it earlier; may be discarded.
  @discardableResult
  public func receive<Owner: AnyObject & Sendable, E: Event>(
    _ type: E.Type = E.self, for owner: Owner, from subject: Subject? = nil, priority: Priority = .normal,
    replay: Replay<E> = .none, buffering: Buffering = .unbounded, once: Bool = false, label: String? = nil,
    fileID: String = #fileID, line: Int = #line,
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Owner, E) async throws -> Void,
    @_inheritActorContext missed: (@isolated(any) @Sendable (Owner, Int) async throws -> Void)? = nil
  ) -> OwnedSubscription {
    let details = SubscriptionDetails(subject, priority, label, fileID, line, owner: owner)
    let calls = Mailbox<E>.Handler(call: calling(handler, for: owner), missed: missed.map { calling($0, for: owner) })
    return OwnedSubscription(registerMailbox(type, details, replay, buffering, once: once, calls))
  }

  /// Subscribes a handler with a mailbox for an actor, on which it is called later, with one event at a time, in order.
  ///
  /// The handler uses the actor without `await`. Events of `postAndWait` are never dropped. The actor's initializer may
  /// call this method.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - owner: held weakly, and passed to the handler; its release ends the subscription.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - replay: `.latest` to receive the latest event of a sticky type first.
  ///   - buffering: how many events the mailbox holds, and which event is dropped when it is full.
  ///   - once: whether the subscription ends with its first event, however many threads post.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with the owner, which it must not capture, and each event; may throw.
  ///   - missed: called in the place of dropped events, with their number; nil to ignore the loss.
  /// - Returns: the subscription, to cancel it earlier; may be discarded.
  @discardableResult
  public func receive<Owner: Actor, E: Event>(
    _ type: E.Type = E.self, for owner: Owner, from subject: Subject? = nil, priority: Priority = .normal,
    replay: Replay<E> = .none, buffering: Buffering = .unbounded, once: Bool = false, label: String? = nil,
    fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @Sendable (isolated Owner, E) async throws -> Void,
    missed: (@Sendable (isolated Owner, Int) async throws -> Void)? = nil
  ) -> OwnedSubscription {
    let details = SubscriptionDetails(subject, priority, label, fileID, line, owner: owner)
    let calls = Mailbox<E>.Handler(call: calling(handler, on: owner), missed: missed.map { calling($0, on: owner) })
    return OwnedSubscription(registerMailbox(type, details, replay, buffering, once: once, calls))
  }

  /// Subscribes a handler with a mailbox to events of every type, or of one name; it is called later, in order.
  ///
  /// The handler runs on the actor of the closure: inside main-actor code on the main actor, without annotation. A
  /// closure without an actor runs on the bus's executor. Events of `postAndWait` are never dropped.
  ///
  /// - Parameters:
  ///   - name: only events of this name; nil for all.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - buffering: how many events the mailbox holds, and which event is dropped when it is full.
  ///   - once: whether the subscription ends with its first event, however many threads post.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with each event. An error that it throws is posted as ``EventBus/HandlerFailure``.
  ///   - missed: called in the place of dropped events, with their number; nil to ignore the loss.
  /// - Returns: the subscription, which cancels when it is released.
  /// - Complexity: linear in the number of event types that have been subscribed to.
  public func receiveAll(
    named name: EventName? = nil, from subject: Subject? = nil, priority: Priority = .normal,
    buffering: Buffering = .unbounded, once: Bool = false, label: String? = nil, fileID: String = #fileID,
    line: Int = #line,
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (any Event) async throws -> Void,
    @_inheritActorContext missed: (@isolated(any) @Sendable (Int) async throws -> Void)? = nil
  ) -> Subscription {
    let details = SubscriptionDetails(subject, priority, label, fileID, line)
    let calls = Mailbox<any Event>.Handler(call: calling(handler), missed: missed.map { calling($0) })
    return Subscription(registerWildcardMailbox(named: name, details, buffering, once: once, calls))
  }

  /// Subscribes a handler with a mailbox for an owner to all events, or to those of one name; it is called later.
  ///
  /// The handler runs on the actor of the closure: inside main-actor code on the main actor, without annotation. Events
  /// of `postAndWait` are never dropped.
  ///
  /// - Parameters:
  ///   - name: only events of this name; nil for all.
  ///   - owner: held weakly, and passed to the handler; its release ends the subscription.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - buffering: how many events the mailbox holds, and which event is dropped when it is full.
  ///   - once: whether the subscription ends with its first event, however many threads post.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with the owner, which it must not capture, and each event; may throw.
  ///   - missed: called in the place of dropped events, with their number; nil to ignore the loss.
  /// - Returns: the subscription, to cancel it earlier; may be discarded.
  /// - Complexity: linear in the number of event types that have been subscribed to.
  @discardableResult
  public func receiveAll<Owner: AnyObject & Sendable>(
    named name: EventName? = nil, for owner: Owner, from subject: Subject? = nil, priority: Priority = .normal,
    buffering: Buffering = .unbounded, once: Bool = false, label: String? = nil, fileID: String = #fileID,
    line: Int = #line,
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Owner, any Event) async throws -> Void,
    @_inheritActorContext missed: (@isolated(any) @Sendable (Owner, Int) async throws -> Void)? = nil
  ) -> OwnedSubscription {
    let details = SubscriptionDetails(subject, priority, label, fileID, line, owner: owner)
    let calls = Mailbox<any Event>.Handler(
      call: calling(handler, for: owner), missed: missed.map { calling($0, for: owner) })
    return OwnedSubscription(registerWildcardMailbox(named: name, details, buffering, once: once, calls))
  }
}

// MARK: - Calling a handler on its actor

extension EventBus {
  /// Returns a closure that calls the handler; on an actor only if the subscription still stands when the call begins.
  private func calling<Element: Sendable>(
    _ handler: @escaping @isolated(any) @Sendable (Element) async throws -> Void
  ) -> @Sendable (Element) async throws -> Void {
    guard let actor = handler.isolation else { return handler }
    return { element in try await HandlerRun.call(on: actor) { try await handler(element) } }
  }

  private func calling<Owner: AnyObject & Sendable, Element: Sendable>(
    _ handler: @escaping @isolated(any) @Sendable (Owner, Element) async throws -> Void, for owner: Owner
  ) -> @Sendable (Element) async throws -> Void {
    // The owner is looked up on the handler's actor: code there may release it while the run waits for the actor.
    let call: @Sendable (Element) async throws -> Void = { [weak owner] element in
      guard let owner else { throw HandlerRun.NotCalled() }
      try await handler(owner, element)
    }
    guard let actor = handler.isolation else { return call }
    return { element in try await HandlerRun.call(on: actor) { try await call(element) } }
  }

  private func calling<Owner: Actor, Element: Sendable>(
    _ handler: @escaping @Sendable (isolated Owner, Element) async throws -> Void, on owner: Owner
  ) -> @Sendable (Element) async throws -> Void {
    { [weak owner] element in
      guard let owner else { throw HandlerRun.NotCalled() }
      try await HandlerRun.call(on: owner) { try await handler(owner, element) }
    }
  }
}
