internal import CPubSub

// Registering receivers, whose events the poster does not handle: mailboxes, and buffers of sequences.

extension EventBus {
  /// Registers a handler with a mailbox of its own.
  func registerMailbox<E: BusEvent>(
    _ type: E.Type, _ details: SubscriptionDetails, replay: Replay = .none,
    handle: @escaping @isolated(any) @Sendable (E) async throws -> Void
  ) -> Registration {
    registerMailbox(type, details, replay: replay, call: calling(handle))
  }

  /// Registers the handler of an owner with a mailbox of its own.
  func registerMailbox<Owner: AnyObject & Sendable, E: BusEvent>(
    _ type: E.Type, _ details: SubscriptionDetails, of owner: Owner, replay: Replay,
    handle: @escaping @isolated(any) @Sendable (Owner, E) async throws -> Void
  ) -> Registration {
    // The owner is looked up on the handler's actor: code there may release it while the run waits for the actor.
    let call: @Sendable (E) async throws -> Void = { [weak owner] event in
      guard let owner else { throw HandlerRun.OwnerIsGone() }
      try await handle(owner, event)
    }
    guard let actor = handle.isolation else { return registerMailbox(type, details, replay: replay, call: call) }
    return registerMailbox(
      type, details, replay: replay, call: { event in try await HandlerRun.begin(on: actor) { try await call(event) } })
  }

  /// Registers the handler of an actor, which runs on that actor, with a mailbox of its own.
  func registerMailbox<Owner: Actor, E: BusEvent>(
    _ type: E.Type, _ details: SubscriptionDetails, on owner: Owner, replay: Replay,
    handle: @escaping @Sendable (isolated Owner, E) throws -> Void
  ) -> Registration {
    let call: @Sendable (E) async throws -> Void = { [weak owner] event in
      guard let owner else { throw HandlerRun.OwnerIsGone() }
      try await HandlerRun.begin(on: owner) { try await handle(owner, event) }
    }
    return registerMailbox(type, details, replay: replay, call: call)
  }

  private func registerMailbox<E: BusEvent>(
    _ type: E.Type, _ details: SubscriptionDetails, replay: Replay, call: @escaping @Sendable (E) async throws -> Void
  ) -> Registration {
    let form = Mailbox<E>.Form(
      element: { event, _ in event.assumingMemoryBound(to: E.self).pointee }, eventType: { _ in E.self }, event: { $0 },
      missed: nil)
    return register(mailbox(form, details, .unbounded, call), type, details, replay)
  }

  /// Registers a handler with a mailbox of its own; a bounded mailbox reports how many events it lost.
  func registerMailbox<E: BusEvent>(
    _ type: E.Type, _ details: SubscriptionDetails, _ buffering: Buffering, replay: Replay,
    handle: @escaping @isolated(any) @Sendable (Received<E>) async throws -> Void
  ) -> Registration {
    let form = Mailbox<Received<E>>.Form(
      element: { event, _ in .event(event.assumingMemoryBound(to: E.self).pointee) }, eventType: { _ in E.self },
      event: { if case .event(let event) = $0 { event } else { nil } }, missed: { .missed($0) })
    return register(mailbox(form, details, buffering, calling(handle)), type, details, replay)
  }

  /// Returns a closure that calls the handler on its actor, if it has one, and only while the subscription stands.
  private func calling<Element: Sendable>(
    _ handler: @escaping @isolated(any) @Sendable (Element) async throws -> Void
  ) -> @Sendable (Element) async throws -> Void {
    guard let actor = handler.isolation else { return handler }
    return { element in try await HandlerRun.begin(on: actor) { try await handler(element) } }
  }

  private func mailbox<Element>(
    _ form: Mailbox<Element>.Form, _ details: SubscriptionDetails, _ buffering: Buffering,
    _ handle: @escaping @Sendable (Element) async throws -> Void
  ) -> Mailbox<Element> {
    Mailbox(subscriber: details.subscriber, bus: self, buffering: buffering, form: form, handler: handle)
  }

  private func register<E: BusEvent, Element>(
    _ mailbox: Mailbox<Element>, _ type: E.Type, _ details: SubscriptionDetails, _ replay: Replay
  ) -> Registration {
    let registration = Registration(details, core: core, mailbox: mailbox)
    if details.owner != nil { mailbox.whenOwnerIsGone = { [weak registration] in registration?.cancel() } }
    core.add(mailbox, registration, to: type, replay: replay)
    return registration
  }

  /// Registers a handler of every event, or of the events of one name, with a mailbox of its own.
  func registerWildcardMailbox(
    named name: EventName?, _ details: SubscriptionDetails,
    handle: @escaping @isolated(any) @Sendable (any BusEvent) async throws -> Void
  ) -> Registration {
    let form = Mailbox<any BusEvent>.Form(
      element: { event, store in store.event(at: event) }, eventType: { type(of: $0) }, event: { $0 }, missed: nil)
    let mailbox = mailbox(form, details, .unbounded, calling(handle))
    let registration = Registration(details, core: core, mailbox: mailbox)
    core.add(Wildcard(registration, named: name, receiver: mailbox))
    return registration
  }

  /// Makes a sequence of events, and registers its first buffer.
  func registerSequence<E: BusEvent>(
    _ type: E.Type, _ details: SubscriptionDetails, replay: Replay
  ) -> EventSequence<E> {
    sequence(of: type, details, replay: replay) {
      EventBuffer<E>(.unbounded, missed: nil) { event, _ in event.assumingMemoryBound(to: E.self).pointee }
    }
  }

  /// Makes a sequence that reports how many events it lost, if it is bounded, and registers its first buffer.
  func registerSequence<E: BusEvent>(
    _ type: E.Type, _ details: SubscriptionDetails, _ buffering: Buffering, replay: Replay
  ) -> EventSequence<Received<E>> {
    sequence(of: type, details, replay: replay) {
      EventBuffer<Received<E>>(buffering, missed: { .missed($0) }) { event, _ in
        .event(event.assumingMemoryBound(to: E.self).pointee)
      }
    }
  }

  /// Makes a sequence; each of its iterators registers a buffer.
  ///
  /// The sequence keeps neither the bus nor the subject alive.
  private func sequence<E: BusEvent, Element>(
    of type: E.Type, _ details: SubscriptionDetails, replay: Replay,
    _ makeBuffer: @escaping @Sendable () -> EventBuffer<Element>
  ) -> EventSequence<Element> {
    let subject = details.subject.map(WeakReference.init)
    var unbound = details
    unbound.subject = nil
    return EventSequence(
      EventSource { [weak self, unbound] in
        let buffer = makeBuffer()
        var details = unbound
        details.subject = subject?.object
        guard let self, subject == nil || details.subject != nil else { return .ended(buffer) }
        let registration = Registration(
          details, core: core, whenCancelled: { [weak buffer] in buffer?.finish() })
        core.add(buffer, registration, to: type, replay: replay)
        return EventConsumer(buffer: buffer, subscription: Subscription(registration))
      })
  }

}
