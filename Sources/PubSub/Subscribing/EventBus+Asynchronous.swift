// Registering receivers, whose events the poster does not handle: mailboxes, and buffers of sequences.

extension EventBus {
  /// Registers a handler with a mailbox of its own.
  func registerMailbox<E: Event>(
    _ type: E.Type, _ details: SubscriptionDetails, _ replay: Replay<E>, _ buffering: Buffering, once: Bool,
    _ handler: Mailbox<E>.Handler
  ) -> Registration {
    let conversions = Mailbox<E>.Conversions(
      element: { event, _ in event.assumingMemoryBound(to: E.self).pointee }, eventType: { _ in E.self },
      missedType: E.self)
    let mailbox = Mailbox(details.subscriber, bus: self, buffering, once: once, conversions, handler)
    let registration = registration(details, mailbox)
    core.add(mailbox, registration, to: type, replay: replay)
    return registration
  }

  /// Registers a handler of every event, or of the events of one name, with a mailbox of its own.
  func registerWildcardMailbox(
    named name: EventName?, _ details: SubscriptionDetails, _ buffering: Buffering, once: Bool,
    _ handler: Mailbox<any Event>.Handler
  ) -> Registration {
    let conversions = Mailbox<any Event>.Conversions(
      element: { event, store in store.event(at: event) }, eventType: { type(of: $0) }, missedType: nil)
    let mailbox = Mailbox(details.subscriber, bus: self, buffering, once: once, conversions, handler)
    let registration = registration(details, mailbox)
    core.add(Wildcard(registration, named: name, receiver: mailbox))
    return registration
  }

  private func registration<Element>(_ details: SubscriptionDetails, _ mailbox: Mailbox<Element>) -> Registration {
    let registration = Registration(details, core: core, mailbox: mailbox)
    mailbox.endSubscription = { [weak registration] in registration?.cancel() }
    return registration
  }

  /// Makes a sequence of events, and registers its first buffer.
  func registerSequence<E: Event>(
    _ type: E.Type, _ details: SubscriptionDetails, replay: Replay<E>
  ) -> EventSequence<E> {
    sequence(of: type, details, replay: replay) {
      EventBuffer<E>(.unbounded, missed: nil) { event, _ in event.assumingMemoryBound(to: E.self).pointee }
    }
  }

  /// Makes a sequence that reports how many events it lost, if it is bounded, and registers its first buffer.
  func registerSequence<E: Event>(
    _ type: E.Type, _ details: SubscriptionDetails, _ buffering: Buffering, replay: Replay<E>
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
  private func sequence<E: Event, Element>(
    of type: E.Type, _ details: SubscriptionDetails, replay: Replay<E>,
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
