internal import CPubSub

// How each kind of handler is converted to a `pubsub_handler`, the only kind that a store knows.

extension EventBus {
  /// Registers a synchronous handler, which the store holds without a wrapper.
  func register<E: BusEvent>(
    _ type: E.Type, from subject: (any AnyObject & Sendable)?, _ priority: Priority, _ label: String?, _ fileID: String,
    _ line: Int, _ handler: pubsub_handler
  ) -> Subscription {
    let store = core.store(for: type)
    if subject == nil, label == nil { return BusCore.subscribePlainly(handler, priority, fileID, line, to: store) }
    let details = SubscriptionDetails(subject: subject, priority: priority, label: label, fileID: fileID, line: line)
    let registration = Registration(details, core: core)
    core.add(handler, registration, to: store)
    return Subscription(registration)
  }

  /// Registers a synchronous handler for an owner, which the store holds without a wrapper.
  func register<E: BusEvent>(
    _ type: E.Type, _ owned: (registration: Registration, handler: pubsub_handler)
  ) -> Subscription {
    core.add(owned.handler, owned.registration, to: core.store(for: type))
    return Subscription(owned.registration)
  }

  /// Registers a synchronous handler of every event, or of the events of one name.
  func registerWildcard(
    named name: EventName?, _ details: SubscriptionDetails, handler: @escaping @Sendable (any BusEvent) throws -> Void
  ) -> Registration {
    let registration = Registration(details, core: core)
    core.add(Wildcard(registration, named: name, handler))
    return registration
  }

  /// Returns the latest event of a sticky type, if the subscription accepts its subject.
  func latest<E: BusEvent>(_ type: E.Type, for subscription: Subscription) -> E? {
    core.latest(type, for: subscription.registration)
  }

  /// Reports an error of the program's code, and posts it.
  package func report(_ failure: HandlerFailure) { core.report(failure) }

  /// Calls a closure with each error of the program's code, on the thread of the error, as long as the owner exists.
  ///
  /// The closure is also called with the error of a handler of ``HandlerFailure``, which is not posted.
  package func observeFailures(
    for owner: any AnyObject & Sendable, _ body: @escaping @Sendable (HandlerFailure) -> Void
  ) {
    core.observeFailures(for: owner, body)
  }
}

/// The properties of a subscription that do not depend on its handler.
struct SubscriptionDetails: Sendable {
  let subscriber: Subscriber
  let priority: Priority
  var subject: (any AnyObject & Sendable)?
  var owner: (any AnyObject & Sendable)?

  init(
    subject: (any AnyObject & Sendable)?, priority: Priority, label: String?, fileID: String, line: Int,
    owner: (any AnyObject & Sendable)? = nil
  ) {
    subscriber = Subscriber(label: label, fileID: fileID, line: line)
    self.priority = priority
    self.subject = subject
    self.owner = owner
  }
}
