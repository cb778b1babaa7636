internal import CPubSub

// Registering what stands behind a subscription and is not the poster's to run: a mailbox, or the buffer of a sequence.

extension EventBus {
  /// Registers a handler with a mailbox of its own.
  func registerMailbox<E: BusEvent>(
    _ type: E.Type, _ details: SubscriptionDetails, replay: Replay = .none,
    handle: @escaping @Sendable (E) async throws -> Void
  ) -> Registration {
    let form = Mailbox<E>.Form(element: { $0 as! E }, eventType: { _ in E.self }, event: { $0 }, missed: nil)
    let mailbox = Mailbox(
      subscriber: details.subscriber, bus: self, buffering: .unbounded, form: form, handler: handle)
    let registration = Registration(details, core: core, mailbox: mailbox)
    insert(registration, replay, hold: { mailbox.hold($0) }, { mailbox.post($0) })
    mailbox.startHolding()
    return registration
  }

  /// Registers a handler with a mailbox of its own that says what it loses, if it is bounded.
  func registerMailbox<E: BusEvent>(
    _ type: E.Type, _ details: SubscriptionDetails, _ buffering: Buffering, replay: Replay,
    handle: @escaping @Sendable (Received<E>) async throws -> Void
  ) -> Registration {
    let form = Mailbox<Received<E>>.Form(
      element: { .event($0 as! E) }, eventType: { _ in E.self },
      event: { if case .event(let event) = $0 { event } else { nil } }, missed: { .missed($0) })
    let mailbox = Mailbox(subscriber: details.subscriber, bus: self, buffering: buffering, form: form, handler: handle)
    let registration = Registration(details, core: core, mailbox: mailbox)
    if buffering.bound == nil {
      insert(registration, replay, hold: { mailbox.hold(.event($0)) }, { mailbox.post(.event($0)) })
    } else {
      insert(registration, replay, hold: { mailbox.hold(.event($0)) }, { mailbox.postWithinBound(.event($0)) })
    }
    mailbox.startHolding()
    return registration
  }

  /// Registers a handler of every event, or of those of one name, with a mailbox of its own.
  func registerWildcardMailbox(
    named name: EventName?, _ details: SubscriptionDetails,
    handle: @escaping @Sendable (any BusEvent) async throws -> Void
  ) -> Registration {
    let form = Mailbox<any BusEvent>.Form(element: { $0 }, eventType: { type(of: $0) }, event: { $0 }, missed: nil)
    let mailbox = Mailbox(
      subscriber: details.subscriber, bus: self, buffering: .unbounded, form: form, handler: handle)
    let registration = Registration(details, core: core, mailbox: mailbox)
    core.add(Wildcard(registration, named: name) { mailbox.post($0) })
    return registration
  }

  /// A sequence of events, whose first buffer is registered.
  func registerSequence<E: BusEvent>(
    _ type: E.Type, _ details: SubscriptionDetails, replay: Replay
  ) -> EventSequence<E> {
    sequence(details, of: { EventBuffer<E>(.unbounded, missed: nil) }) { bus, details, buffer in
      let registration = bus.registration(details, ending: buffer)
      bus.insert(registration, replay, hold: { buffer.post($0) }, { buffer.post($0) })
      return registration
    }
  }

  /// A sequence that says what it loses, if it is bounded, and whose first buffer is registered.
  func registerSequence<E: BusEvent>(
    _ type: E.Type, _ details: SubscriptionDetails, _ buffering: Buffering, replay: Replay
  ) -> EventSequence<Received<E>> {
    sequence(details, of: { EventBuffer<Received<E>>(buffering, missed: { .missed($0) }) }) { bus, details, buffer in
      bus.register(buffer, of: E.self, details, buffering, replay: replay)
    }
  }

  /// A sequence each of whose iterators registers a buffer.
  ///
  /// It keeps neither the bus nor the subject.
  private func sequence<Element>(
    _ details: SubscriptionDetails, of makeBuffer: @escaping @Sendable () -> EventBuffer<Element>,
    register: @escaping @Sendable (EventBus, SubscriptionDetails, EventBuffer<Element>) -> Registration
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
        return EventConsumer(buffer: buffer, subscription: Subscription(register(self, details, buffer)))
      })
  }

  /// Registers the buffer of an iterator that says what it loses, if it is bounded.
  private func register<E: BusEvent>(
    _ buffer: EventBuffer<Received<E>>, of type: E.Type, _ details: SubscriptionDetails, _ buffering: Buffering,
    replay: Replay
  ) -> Registration {
    let isBounded = buffering.bound != nil
    let registration = registration(
      details, ending: buffer, alternative: isBounded ? KeepingHandler<E> { buffer.postKept(.event($0)) } : nil)
    if !isBounded {
      insert(registration, replay, hold: { buffer.post(.event($0)) }, { buffer.post(.event($0)) })
    } else {
      insert(
        registration, replay, hold: { buffer.postWithinBound(.event($0)) },
        { buffer.postWithinBound(.event($0)) })
    }
    return registration
  }

  /// A registration that ends a buffer with itself; no other code has it yet.
  private func registration<Element>(
    _ details: SubscriptionDetails, ending buffer: EventBuffer<Element>,
    alternative: (any AnyObject & Sendable)? = nil
  ) -> Registration {
    let registration = Registration(details, core: core, alternative: alternative)
    registration.whenCancelled { [weak buffer] in buffer?.finish() }
    return registration
  }

  private func insert<E: BusEvent>(
    _ registration: Registration, _ replay: Replay, hold: (E) -> Void, _ deliver: @escaping @Sendable (E) -> Void
  ) {
    core.add(.of(deliver), registration, to: E.self, replay: replay, hold: hold)
  }

  /// The deadlines on a clock; nil for the bus's own.
  ///
  /// A clock without parts is the same as any other of its type, so its deadlines are kept for the next post;
  /// those on any other clock are for one post alone.
  func deadlines(on clock: (any Clock<Duration>)?) -> Deadlines {
    guard let clock else { return core.deadlines }
    guard clock.hasNoParts else {
      let tasks = clock is any SimulatedClock ? TaskStarter(clock: clock) : tasks
      return Deadlines(clock: clock, tasks: tasks, sleepsOnlyForNeed: true)
    }
    return deadlinesByClock.withLock { deadlines in
      let key = ObjectIdentifier(type(of: clock))
      if let known = deadlines[key] { return known }
      let new = Deadlines(clock: clock, tasks: tasks)
      deadlines[key] = new
      return new
    }
  }
}
