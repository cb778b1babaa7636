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
  /// The deadlines of what is awaited, on the bus's own clock.
  let deadlines: Deadlines
  /// Those on other clocks, by the clock's type.
  let deadlinesByClock = Guarded<[ObjectIdentifier: Deadlines]>([:])
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
    deadlines = Deadlines(clock: clock, tasks: tasks)
  }

  deinit {
    // A registration's bus is gone by now, so cancelling ends mailboxes and sequences and nothing else.
    for registration in table.withLock({ $0.registrations }) { registration.cancel() }
    deadlines.rest()
    for deadlines in deadlinesByClock.withLock({ $0.values.map { $0 } }) { deadlines.rest() }
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
    for recipient in recipients(of: event, from: subject) { deliver(event, from: subject, to: recipient) }
  }

  /// Those for whom a post is, in the order of delivery; a sticky event is kept in the same instant.
  func recipients<E: BusEvent>(of event: E, from subject: (any AnyObject & Sendable)?) -> [Recipient<E>] {
    let isSticky = E.traits.contains(.sticky)
    // The former latest event leaves the lock before it is released: its deinitialiser may call the bus.
    let kept = isSticky ? (event as? any WeaklyKept)?.weakened() as? E ?? event : event
    let (recipients, former) = table.withLock { table -> ([Recipient<E>], (E, WeakReference?)?) in
      guard let topic = table.existing(E.self) else { return ([], nil) }
      guard isSticky else { return (topic.recipients, nil) }
      defer { topic.latest = (kept, subject.map(WeakReference.init)) }
      return (topic.recipients, topic.latest)
    }
    withExtendedLifetime(former) {}
    return E.traits.contains(.reversed) ? recipients.reversed() : recipients
  }

  private func deliver<E: BusEvent>(
    _ event: E, from subject: (any AnyObject & Sendable)?, to recipient: Recipient<E>
  ) {
    let registration = recipient.registration
    if registration.isExpired { return registration.cancel() }
    guard registration.accepts(subject), registration.beginDelivery() else { return }
    defer { registration.endDelivery() }
    do {
      try recipient.deliver(event)
    } catch {
      reportFailure(of: registration.subscriber, error, in: E.name)
    }
  }

  /// Posts what a handler threw, unless it threw while it was told of such a failure.
  func reportFailure(of subscriber: Subscriber, _ error: any Error, in eventName: EventName) {
    guard eventName != HandlerFailure.name else { return }
    post(HandlerFailure(subscriber: subscriber, eventName: eventName, error: error))
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

  /// Registers a handler of every event, or of those of one name, that runs inside the post.
  func registerWildcard(
    named name: EventName?, _ details: SubscriptionDetails, deliver: @escaping @Sendable (any BusEvent) throws -> Void
  ) -> Registration {
    let registration = makeRegistration(details)
    insert(Wildcard(registration: registration, name: name, deliver: deliver))
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

  func makeRegistration(
    _ details: SubscriptionDetails, mailbox: (any AsynchronousReceiver)? = nil
  ) -> Registration {
    Registration(
      id: table.withLock { $0.nextID() }, subscriber: details.subscriber, priority: details.priority,
      subject: details.subject, owner: details.owner, mailbox: mailbox, bus: self)
  }

  func insert<E: BusEvent>(_ registration: Registration, _ deliver: @escaping @Sendable (E) throws -> Void) {
    _ = table.withLock { $0.topic(E.self).insert(.init(registration: registration, deliver: deliver)) }
  }

  func insert(_ wildcard: Wildcard) { table.withLock { $0.insert(wildcard) } }

  /// Inserts, and in the same instant has the latest event of a sticky type held.
  ///
  /// No post comes between the two, so that each event is either that one, or one that was posted before it, or will be
  /// delivered. `hold` is called under the bus's lock, if there is a latest event from the subject asked for.
  func insert<E: BusEvent>(
    _ registration: Registration, from subject: (any AnyObject & Sendable)?, holding hold: (E) -> Void,
    _ deliver: @escaping @Sendable (E) throws -> Void
  ) {
    let untouched = table.withLock { table -> (TopicStorage<E>.Swept, E?, (any AnyObject & Sendable)?) in
      let topic = table.topic(E.self)
      let swept = topic.insert(.init(registration: registration, deliver: deliver))
      let poster = topic.latest?.subject?.object
      guard let latest = topic.latest?.event, subject == nil || poster === subject else { return (swept, nil, poster) }
      let event = if let weak = latest as? any WeaklyKept { weak.strengthened() as? E } else { latest }
      if let event { hold(event) }
      return (swept, event, poster)
    }
    // What was read is released outside the lock: its deinitialisers may call the bus.
    withExtendedLifetime(untouched) {}
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
