internal import CPubSub
internal import Scheduling

// MARK: - Synchronous handlers

extension EventBus {
  /// Registers a synchronous handler; `first` ends a subscription with `once`.
  func register<E: Event>(
    _ type: E.Type, from subject: EventBus.Subject?, _ priority: Priority, _ label: String?, _ fileID: String,
    _ line: Int, once first: FirstCall?, _ handler: pubsub_handler
  ) -> Subscription {
    if subject == nil, label == nil, first == nil {
      return BusCore.subscribePlainly(handler, priority, fileID, line, to: core.store(of: type))
    }
    let registration = Registration(SubscriptionDetails(subject, priority, label, fileID, line), core: core)
    first?.registration = registration
    core.add(handler, registration, to: type)
    return Subscription(registration)
  }

  /// Subscribes a handler of events of either kind, which is called where they are posted, before the post returns.
  package func subscribe<E: Event>(
    toEither type: E.Type, priority: Priority, label: String, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @Sendable (E) throws -> Void
  ) -> Subscription {
    register(type, from: nil, priority, label, fileID, line, once: nil, .of(handler))
  }

  func register<E: Event>(
    _ type: E.Type, once first: FirstCall?, _ owned: (registration: Registration, handler: pubsub_handler)
  ) -> OwnedSubscription {
    first?.registration = owned.registration
    core.add(owned.handler, owned.registration, to: type)
    return OwnedSubscription(owned.registration)
  }

  func register(
    _ registration: Registration, named name: EventName?, once: Bool,
    _ handler: @escaping @Sendable (any Event) throws -> Void
  ) {
    var wildcard = Wildcard(registration: registration, name: name, body: handler)
    if let first = FirstCall.ifNeeded(once: once) {
      first.registration = registration
      wildcard.body = { event in if first.begin() { try handler(event) } }
    }
    core.add(wildcard)
  }
}

// MARK: - Mailboxes and sequences, whose events the poster does not handle

extension EventBus {
  func registerMailbox<E: Event>(
    _ type: E.Type, _ details: SubscriptionDetails, _ replay: Replay<E>, _ buffering: Buffering, once: Bool,
    _ handler: Mailbox<E>.Handler
  ) -> Registration {
    let mailbox = Mailbox(details.subscriber, bus: self, buffering, once: once, handler, eventType: E.self) {
      event, _ in event.assumingMemoryBound(to: E.self).pointee
    }
    let registration = Registration(details, core: core, receiver: mailbox)
    core.add(pubsub_handler(mailbox), registration, to: type, mailbox, replay: replay)
    return registration
  }

  func registerWildcardMailbox(
    named name: EventName?, _ details: SubscriptionDetails, _ buffering: Buffering, once: Bool,
    _ handler: Mailbox<any Event>.Handler
  ) -> Registration {
    let mailbox = Mailbox(details.subscriber, bus: self, buffering, once: once, handler, eventType: nil) {
      event, store in store.event(at: event)
    }
    let registration = Registration(details, core: core, receiver: mailbox)
    core.add(Wildcard(registration: registration, name: name, receiver: mailbox))
    return registration
  }

  /// Makes a sequence; each of its iterators registers a buffer.
  ///
  /// The sequence keeps neither the bus nor the subject alive.
  func registerSequence<E: Event, Element>(
    of type: E.Type, from subject: Subject?, _ details: SubscriptionDetails, replay: Replay<E>,
    _ makeBuffer: @escaping @Sendable () -> EventBuffer<Element>
  ) -> EventSequence<Element> {
    let subject = subject.map(WeakReference.init)
    return EventSequence(
      EventSource { [weak self] in
        let buffer = makeBuffer()
        var details = details
        details.subject = subject?.object
        guard let self, subject == nil || details.subject != nil else {
          buffer.close()
          return EventConsumer(buffer: buffer, subscription: nil)
        }
        let registration = Registration(details, core: core, receiver: buffer)
        core.add(pubsub_handler(buffer), registration, to: type, buffer, replay: replay)
        return EventConsumer(buffer: buffer, subscription: Subscription(registration))
      })
  }
}
