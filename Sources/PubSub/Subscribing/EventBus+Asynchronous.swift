internal import Scheduling

// Registering receivers, whose events the poster does not handle: mailboxes, and buffers of sequences.

extension EventBus {
  func registerMailbox<E: Event>(
    _ type: E.Type, _ details: SubscriptionDetails, _ replay: Replay<E>, _ buffering: Buffering, once: Bool,
    _ handler: Mailbox<E>.Handler
  ) -> Registration {
    let mailbox = Mailbox(details.subscriber, bus: self, buffering, once: once, handler, eventType: E.self) {
      event, _ in event.assumingMemoryBound(to: E.self).pointee
    }
    let registration = registration(details, mailbox)
    core.add(mailbox, registration, to: type, replay: replay)
    return registration
  }

  func registerWildcardMailbox(
    named name: EventName?, _ details: SubscriptionDetails, _ buffering: Buffering, once: Bool,
    _ handler: Mailbox<any Event>.Handler
  ) -> Registration {
    let mailbox = Mailbox(details.subscriber, bus: self, buffering, once: once, handler, eventType: nil) {
      event, store in store.event(at: event)
    }
    let registration = registration(details, mailbox)
    core.add(Wildcard(registration: registration, name: name, receiver: mailbox))
    return registration
  }

  private func registration<Element>(_ details: SubscriptionDetails, _ mailbox: Mailbox<Element>) -> Registration {
    let registration = Registration(details, core: core, receiver: mailbox)
    mailbox.endSubscription = { [weak registration] in registration?.cancel() }
    return registration
  }

  /// Makes a sequence; each of its iterators registers a buffer.
  ///
  /// The sequence keeps neither the bus nor the subject alive.
  func registerSequence<E: Event, Element>(
    of type: E.Type, _ details: SubscriptionDetails, replay: Replay<E>,
    _ makeBuffer: @escaping @Sendable () -> EventBuffer<Element>
  ) -> EventSequence<Element> {
    let subject = details.subject.map(WeakReference.init)
    var withoutSubject = details
    withoutSubject.subject = nil
    return EventSequence(
      EventSource { [weak self, withoutSubject] in
        let buffer = makeBuffer()
        var details = withoutSubject
        details.subject = subject?.object
        guard let self, subject == nil || details.subject != nil else {
          buffer.close()
          return EventConsumer(buffer: buffer, subscription: nil)
        }
        let registration = Registration(details, core: core, receiver: buffer)
        core.add(buffer, registration, to: type, replay: replay)
        return EventConsumer(buffer: buffer, subscription: Subscription(registration))
      })
  }
}
