internal import CPubSub

// Registering synchronous handlers.

extension EventBus {
  /// Registers a synchronous handler.
  func register<E: Event>(
    _ type: E.Type, from subject: EventBus.Subject?, _ priority: Priority, _ label: String?, _ fileID: String,
    _ line: Int, _ handler: pubsub_handler
  ) -> Subscription {
    let store = core.store(for: type)
    if subject == nil, label == nil { return BusCore.subscribePlainly(handler, priority, fileID, line, to: store) }
    let registration = Registration(SubscriptionDetails(subject, priority, label, fileID, line), core: core)
    core.add(handler, registration, to: store)
    return Subscription(registration)
  }

  /// Registers a synchronous handler for an owner.
  func register<E: Event>(
    _ type: E.Type, _ owned: (registration: Registration, handler: pubsub_handler)
  ) -> OwnedSubscription {
    core.add(owned.handler, owned.registration, to: core.store(for: type))
    return OwnedSubscription(owned.registration)
  }
}

/// The properties of a subscription that do not depend on its handler.
struct SubscriptionDetails: Sendable {
  let subscriber: EventBus.Subscriber
  let priority: EventBus.Priority
  var subject: EventBus.Subject?
  var owner: EventBus.Subject?

  init(
    _ subject: EventBus.Subject?, _ priority: EventBus.Priority, _ label: String?, _ fileID: String, _ line: Int,
    owner: EventBus.Subject? = nil
  ) {
    subscriber = EventBus.Subscriber(label: label, fileID: fileID, line: line)
    (self.priority, self.subject, self.owner) = (priority, subject, owner)
  }
}
