/// Carries events from those who post them to those who subscribed, in order and without either knowing the other.
///
/// One post reaches its subscribers in order of priority (highest first), within a priority in the order of subscription;
/// wildcard, by-name, subject-filtered and plain subscribers stand in that same single order. Event types with the trait
/// ``EventTraits/reversed`` get the mirror image. A post made inside a handler is delivered at once, depth first.
///
/// Every call is allowed from any thread and inside a handler; no synchronous one can deadlock, as no lock is held while a
/// handler runs. A bus that is released ends its subscriptions and its event sequences.
public final class EventBus: Sendable {
  let tasks: TaskStarter
  let clock: any Clock<Duration>
  private let table = Guarded(TopicTable())

  /// A bus without subscribers.
  ///
  /// - Parameter taskExecutor: where asynchronous handlers prefer to run; nil for the global executor.
  public convenience init(taskExecutor: (any TaskExecutor)? = nil) {
    self.init(tasks: TaskStarter(executor: taskExecutor), clock: ContinuousClock())
  }

  /// A bus in the world of a clock: a simulated clock brings its executor along.
  package convenience init(clock: any Clock<Duration>) { self.init(tasks: TaskStarter(clock: clock), clock: clock) }

  private init(tasks: TaskStarter, clock: any Clock<Duration>) {
    self.tasks = tasks
    self.clock = clock
  }

  deinit {
    // A registration's bus is gone by now, so cancelling ends mailboxes and sequences and nothing else.
    for registration in table.withLock({ $0.registrations }) { registration.cancel() }
  }
}

// MARK: - Posting

extension EventBus {
  /// Posts an event; synchronous handlers have run when this returns, asynchronous ones have it in their mailbox.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - subject: what it happened to, for those who subscribed to this object only.
  /// - Complexity: linear in the number of subscribers to the event.
  public func post<E: Event>(_ event: E, from subject: (any AnyObject & Sendable)? = nil) {
    deliver(event, from: subject)
  }

  /// Posts a main-actor event; synchronous handlers have run when this returns, asynchronous ones have it in their mailbox.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - subject: what it happened to, for those who subscribed to this object only.
  /// - Complexity: linear in the number of subscribers to the event.
  @MainActor public func post<E: MainActorEvent>(_ event: E, from subject: (any AnyObject & Sendable)? = nil) {
    deliver(event, from: subject)
  }

  private func deliver<E: BusEvent>(_ event: E, from subject: (any AnyObject & Sendable)?) {
    let isSticky = E.traits.contains(.sticky)
    // The former latest event leaves the lock before it is released: its deinitialiser may call the bus.
    let kept = isSticky ? (event as? any WeaklyKept)?.weakened() as? E ?? event : event
    let (deliveries, former) = table.withLock { table -> ([TopicStorage<E>.Delivery], (E, WeakReference?)?) in
      guard let topic = table.existing(E.self) else { return ([], nil) }
      guard isSticky else { return (topic.deliveries, nil) }
      defer { topic.latest = (kept, subject.map(WeakReference.init)) }
      return (topic.deliveries, topic.latest)
    }
    withExtendedLifetime(former) {}
    if E.traits.contains(.reversed) {
      for delivery in deliveries.reversed() { deliver(event, from: subject, to: delivery) }
    } else {
      for delivery in deliveries { deliver(event, from: subject, to: delivery) }
    }
  }

  private func deliver<E: BusEvent>(
    _ event: E, from subject: (any AnyObject & Sendable)?, to delivery: TopicStorage<E>.Delivery
  ) {
    let registration = delivery.registration
    if registration.isExpired { return registration.cancel() }
    guard registration.accepts(subject), registration.beginDelivery() else { return }
    defer { registration.endDelivery() }
    do {
      try delivery.deliver(event)
    } catch {
      reportFailure(of: registration, error, in: E.name)
    }
  }

  /// Posts what a handler threw, unless it threw while it was told of such a failure.
  func reportFailure(of registration: Registration, _ error: any Error, in eventName: EventName) {
    guard eventName != HandlerFailure.name else { return }
    post(HandlerFailure(subscriber: registration.subscriber, eventName: eventName, error: error))
  }
}

// MARK: - The table

extension EventBus {
  /// Registers a handler that runs inside the post.
  func register<E: BusEvent>(
    _ type: E.Type, _ details: SubscriptionDetails, deliver: @escaping @Sendable (E) throws -> Void
  ) -> Registration {
    let registration = makeRegistration(details)
    insert(registration, deliver)
    return registration
  }

  /// Registers a handler with a mailbox of its own.
  func registerMailbox<E: BusEvent>(
    _ type: E.Type, _ details: SubscriptionDetails, handle: @escaping @Sendable (E) async throws -> Void
  ) -> Registration {
    let registration = makeRegistration(details)
    let mailbox = makeMailbox(registration, nameOf: { _ in E.name }, handle: handle)
    insert(registration) { (event: E) in mailbox.push(event) }
    return registration
  }

  /// Registers a handler of every event, or of those of one name, that runs inside the post.
  func registerWildcard(
    named name: EventName?, _ details: SubscriptionDetails, deliver: @escaping @Sendable (any BusEvent) throws -> Void
  ) -> Registration {
    let registration = makeRegistration(details)
    table.withLock { $0.insert(Wildcard(registration: registration, name: name, deliver: deliver)) }
    return registration
  }

  /// Registers a handler of every event, or of those of one name, with a mailbox of its own.
  func registerWildcardMailbox(
    named name: EventName?, _ details: SubscriptionDetails,
    handle: @escaping @Sendable (any BusEvent) async throws -> Void
  ) -> Registration {
    let registration = makeRegistration(details)
    let mailbox = makeMailbox(registration, nameOf: { type(of: $0).name }, handle: handle)
    table.withLock { $0.insert(Wildcard(registration: registration, name: name) { mailbox.push($0) }) }
    return registration
  }

  /// The latest event of a sticky type, if it was posted and this registration asked for its subject.
  func latest<E: BusEvent>(_ type: E.Type, for registration: Registration) -> E? {
    guard let latest = table.withLock({ $0.existing(type)?.latest }) else { return nil }
    guard registration.accepts(latest.subject?.object) else { return nil }
    guard let weak = latest.event as? any WeaklyKept else { return latest.event }
    return weak.strengthened() as? E
  }

  func remove(_ registration: Registration) {
    // What the handlers captured is released outside the lock: its deinitialisers may call the bus.
    _ = table.withLock { $0.remove(registration) }
  }

  private func makeRegistration(_ details: SubscriptionDetails) -> Registration {
    Registration(
      id: table.withLock { $0.nextID() }, subscriber: details.subscriber, priority: details.priority,
      subject: details.subject, owner: details.owner, bus: self)
  }

  private func insert<E: BusEvent>(_ registration: Registration, _ deliver: @escaping @Sendable (E) throws -> Void) {
    _ = table.withLock { $0.topic(E.self).insert(.init(registration: registration, deliver: deliver)) }
  }

  private func makeMailbox<Element: Sendable>(
    _ registration: Registration, nameOf: @escaping @Sendable (Element) -> EventName,
    handle: @escaping @Sendable (Element) async throws -> Void
  ) -> Mailbox<Element> {
    let mailbox = Mailbox<Element>(tasks: tasks) { [weak self] element in
      guard registration.beginDelivery() else { return }
      defer { registration.endDelivery() }
      let link = HandlerChain.Link(registration, nameOf(element))
      defer { link.end() }
      do {
        try await HandlerChain.$current.withValue(HandlerChain.current + [link]) { try await handle(element) }
      } catch {
        self?.reportFailure(of: registration, error, in: link.eventName)
      }
    }
    // Weak: the mailbox holds the registration, and lives as long as it is in the table or runs.
    registration.whenCancelled { [weak mailbox] in mailbox?.close() }
    return mailbox
  }
}

/// What a subscription says of itself, whatever its handler.
struct SubscriptionDetails: Sendable {
  let subscriber: Subscriber
  let priority: Priority
  let subject: (any AnyObject & Sendable)?
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
