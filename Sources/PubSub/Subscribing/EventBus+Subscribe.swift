internal import CPubSub

// `subscribe`: the bus calls the handler before `post` returns. To have it called later, use `receive`.

extension EventBus {
  /// The object that an event is about.
  public typealias Subject = any AnyObject & Sendable

  /// Subscribes a handler that is called on the poster's thread, before the post returns.
  ///
  /// The subscription has taken effect when this method returns. Posts under way do not see it.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - once: whether the subscription ends with its first event, however many threads post.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with each event. An error that it throws is posted as ``EventBus/HandlerFailure``.
  /// - Returns: the subscription, which cancels when it is released.
  public func subscribe<E: BusEvent>(
    to type: E.Type = E.self, from subject: Subject? = nil, priority: Priority = .normal, once: Bool = false,
    label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @Sendable (E) throws -> Void
  ) -> Subscription {
    // Not a variable for both closures, which would count two references more.
    guard let first = FirstCall.ifNeeded(once: once) else {
      return register(type, from: subject, priority, label, fileID, line, once: nil, .of(handler))
    }
    let once = { @Sendable event in if first.begin() { try handler(event) } }
    return register(type, from: subject, priority, label, fileID, line, once: first, .of(once))
  }

  /// Subscribes a handler that is called on the main actor, before the post returns.
  ///
  /// The subscription has taken effect when this method returns. Posts under way do not see it. Any thread may call
  /// this method.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - replay: `.latest`, on the main actor, to call the handler at once with the latest event of a sticky type.
  ///   - once: whether the subscription ends with its first event, however many threads post.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with each event. An error that it throws is posted as ``EventBus/HandlerFailure``.
  /// - Returns: the subscription, which cancels when it is released.
  public func subscribe<E: MainActorEvent>(
    to type: E.Type = E.self, from subject: Subject? = nil, priority: Priority = .normal,
    replay: ImmediateReplay<E> = .none, once: Bool = false, label: String? = nil, fileID: String = #fileID,
    line: Int = #line, _ handler: @escaping @MainActor (E) throws -> Void
  ) -> Subscription {
    // With a replay alone the subscription needs no registration.
    let first = FirstCall.ifNeeded(once: once, replays: replay.isLatest)
    var called = handler
    if let first { called = { if first.begin() { try handler($0) } } }
    let subscription = register(
      type, from: subject, priority, label, fileID, line, once: once ? first : nil, .of(onMainActor: called))
    // `isCancelled` first: it takes the bus's lock, and code that runs after that may post; `hasBegun` must see it.
    if replay.isLatest, !subscription.isCancelled, first?.hasBegun == false {
      call(called, withLatestOf: type, subscription.subscriber, from: subject)
    }
    return subscription
  }

  /// Subscribes a handler for an owner; it is called on the poster's thread, before the post returns.
  ///
  /// The bus keeps the owner alive during each call. A handler that captures the owner (`self.`), instead of using the
  /// one that it is passed, keeps it alive as long as the bus. An error of the handler is posted as
  /// ``EventBus/HandlerFailure``. The owner's class is `Sendable`: a class on the main actor, an actor, or a final class
  /// whose stored properties are constants.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - owner: held weakly, and passed to the handler; its release ends the subscription.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - once: whether the subscription ends with its first event, however many threads post.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with the owner, which it must not capture, and each event; may throw.
  /// - Returns: the subscription, to cancel it earlier; may be discarded.
  @discardableResult
  public func subscribe<Owner: AnyObject & Sendable, E: BusEvent>(
    to type: E.Type = E.self, for owner: Owner, from subject: Subject? = nil, priority: Priority = .normal,
    once: Bool = false, label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @Sendable (Owner, E) throws -> Void
  ) -> OwnedSubscription {
    let details = SubscriptionDetails(subject, priority, label, fileID, line, owner: owner)
    let first = FirstCall.ifNeeded(once: once)
    var called = handler
    if let first { called = { if first.begin() { try handler($0, $1) } } }
    return register(type, once: first, Registration.makeOwned(details, in: core, called))
  }

  /// Subscribes a handler for an owner; it is called on the main actor, before the post returns.
  ///
  ///     bus.subscribe(to: Application.WillResignActive.self, for: self) { label, _ in
  ///       label.text = "hidden"
  ///     }
  ///
  /// The bus keeps the owner alive during each call. Any thread may call this method.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - owner: held weakly, and passed to the handler; its release ends the subscription.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - replay: `.latest`, on the main actor, to call the handler at once with the latest event of a sticky type.
  ///   - once: whether the subscription ends with its first event, however many threads post.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with the owner, which it must not capture, and each event; may throw.
  /// - Returns: the subscription, to cancel it earlier; may be discarded.
  @discardableResult
  public func subscribe<Owner: AnyObject & Sendable, E: MainActorEvent>(
    to type: E.Type = E.self, for owner: Owner, from subject: Subject? = nil, priority: Priority = .normal,
    replay: ImmediateReplay<E> = .none, once: Bool = false, label: String? = nil, fileID: String = #fileID,
    line: Int = #line, _ handler: @escaping @MainActor (Owner, E) throws -> Void
  ) -> OwnedSubscription {
    let details = SubscriptionDetails(subject, priority, label, fileID, line, owner: owner)
    let first = FirstCall.ifNeeded(once: once, replays: replay.isLatest)
    var called = handler
    if let first { called = { if first.begin() { try handler($0, $1) } } }
    let subscription = register(
      type, once: once ? first : nil, Registration.makeOwned(details, in: core, onMainActor: called))
    if replay.isLatest, !subscription.isCancelled, first?.hasBegun == false {
      call({ try called(owner, $0) }, withLatestOf: type, subscription.subscriber, from: subject)
    }
    return subscription
  }

  /// Subscribes a handler to all events, or to those of one name; it is called before the post returns.
  ///
  /// The handler has its place in the same order of delivery as subscribers to the types.
  ///
  /// - Parameters:
  ///   - name: only events of this name; nil for all.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - once: whether the subscription ends with its first event, however many threads post.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with each event. An error that it throws is posted as ``EventBus/HandlerFailure``.
  /// - Returns: the subscription, which cancels when it is released.
  /// - Complexity: linear in the number of event types that have been subscribed to.
  public func subscribeToAll(
    named name: EventName? = nil, from subject: Subject? = nil, priority: Priority = .normal, once: Bool = false,
    label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @Sendable (any Event) throws -> Void
  ) -> Subscription {
    let registration = Registration(SubscriptionDetails(subject, priority, label, fileID, line), core: core)
    register(registration, named: name, once: once, handler)
    return Subscription(registration)
  }

  /// Subscribes a handler for an owner to all events, or to those of one name; it is called before the post returns.
  ///
  /// The handler has its place in the same order of delivery as subscribers to the types.
  ///
  /// - Parameters:
  ///   - name: only events of this name; nil for all.
  ///   - owner: held weakly, and passed to the handler; its release ends the subscription.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - once: whether the subscription ends with its first event, however many threads post.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with the owner, which it must not capture, and each event; may throw.
  /// - Returns: the subscription, to cancel it earlier; may be discarded.
  /// - Complexity: linear in the number of event types that have been subscribed to.
  @discardableResult
  public func subscribeToAll<Owner: AnyObject & Sendable>(
    named name: EventName? = nil, for owner: Owner, from subject: Subject? = nil, priority: Priority = .normal,
    once: Bool = false, label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @Sendable (Owner, any Event) throws -> Void
  ) -> OwnedSubscription {
    let details = SubscriptionDetails(subject, priority, label, fileID, line, owner: owner)
    let registration = Registration(details, core: core)
    register(registration, named: name, once: once) { [weak owner] event in
      guard let owner else { return registration.ownerIsGone() }
      try handler(owner, event)
    }
    return OwnedSubscription(registration)
  }

  /// Calls the handler of a new subscription with the latest event, if there is one.
  ///
  /// Main-actor events are posted on the main actor, which is busy here. So only code that subscribing itself has run can
  /// have posted one in between (see ``FirstCall``).
  private func call<E: MainActorEvent>(
    _ handler: @MainActor (E) throws -> Void, withLatestOf type: E.Type, _ subscriber: Subscriber,
    from subject: Subject?
  ) {
    guard let latest = core.typedStore(of: type).latest(from: subject) else { return }
    Posting.withoutSubject {
      MainActor.assumeIsolated {
        do { try handler(latest) } catch { core.report(error, of: subscriber, with: latest) }
      }
    }
  }
}
