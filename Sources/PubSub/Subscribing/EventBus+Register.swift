internal import CPubSub

// Registering synchronous handlers.

extension EventBus {
  /// Registers a synchronous handler; `first` ends a subscription to one event.
  func register<E: Event>(
    _ type: E.Type, from subject: EventBus.Subject?, _ priority: Priority, _ label: String?, _ fileID: String,
    _ line: Int, once first: FirstCall?, _ handler: pubsub_handler
  ) -> Subscription {
    let store = core.store(for: type)
    if subject == nil, label == nil, first == nil {
      return BusCore.subscribePlainly(handler, priority, fileID, line, to: store)
    }
    let registration = Registration(SubscriptionDetails(subject, priority, label, fileID, line), core: core)
    first?.registration = registration
    core.add(handler, registration, to: store)
    return Subscription(registration)
  }

  func register<E: Event>(
    _ type: E.Type, once first: FirstCall?, _ owned: (registration: Registration, handler: pubsub_handler)
  ) -> OwnedSubscription {
    first?.registration = owned.registration
    core.add(owned.handler, owned.registration, to: core.store(for: type))
    return OwnedSubscription(owned.registration)
  }

  func register(
    _ registration: Registration, named name: EventName?, once: Bool,
    _ handler: @escaping @Sendable (any Event) throws -> Void
  ) {
    var wildcard = Wildcard(registration: registration, name: name, body: handler)
    if let first = FirstCall(once: once) {
      first.registration = registration
      wildcard.body = { event in if first.begin() { try handler(event) } }
    }
    core.add(wildcard)
  }
}
