internal import CPubSub

/// The handlers of the events of one type, and what the bus keeps of these events.
final class TopicStore<E: BusEvent>: HandlerStore, @unchecked Sendable {
  private typealias Kept = (event: E, subject: WeakReference?)

  /// The latest event of a sticky type, with its subject; guarded by the order.
  private var latest: Kept?
  /// Whether the event is kept in a weak form.
  private let isWeaklyKept = E.self is any WeaklyKept.Type

  init(_ description: EventDescription<E>, in core: BusCore, limit: Int) {
    super.init(name: description.name, traits: description.traits, in: core, limit: limit)
  }

  override func handler(of wildcard: Wildcard) -> pubsub_handler {
    let body = wildcard.body
    return .of { (event: E) in try body(event) }
  }

  override func event(at event: UnsafeRawPointer) -> any BusEvent { event.assumingMemoryBound(to: E.self).pointee }

  override func inOrder(_ event: UnsafeRawPointer, from subject: (any AnyObject & Sendable)?, _ body: () -> Void) {
    guard isSticky else { return body() }
    let new = kept(event.assumingMemoryBound(to: E.self).pointee, from: subject)
    let former = withOrder {
      let former = latest
      latest = new
      body()
      return former
    }
    // Released without the lock: its deinitialiser may call the bus.
    withExtendedLifetime(former) {}
  }

  private func kept(_ event: E, from subject: (any AnyObject & Sendable)?) -> Kept {
    let weak = isWeaklyKept ? (event as? any WeaklyKept)?.weakened() as? E : nil
    return (weak ?? event, subject.map(WeakReference.init))
  }

  /// The latest event, if its subject is accepted.
  ///
  /// The caller holds the order. What was looked at is let go of without it.
  func latest(keeping released: inout Released, where accepts: ((any AnyObject & Sendable)?) -> Bool) -> E? {
    guard let latest else { return nil }
    let poster = latest.subject?.object
    if let poster { released.keep(poster) }
    guard accepts(poster) else { return nil }
    guard isWeaklyKept, let weak = latest.event as? any WeaklyKept else { return latest.event }
    return weak.strengthened() as? E
  }

  /// The latest event, if its subject is accepted.
  func latest(where accepts: ((any AnyObject & Sendable)?) -> Bool) -> E? {
    var released = Released()
    let latest = withOrder { self.latest(keeping: &released, where: accepts) }
    released.finish()
    return latest
  }

  /// Keeps no event until the next is posted.
  func removeLatest() {
    let former = withOrder {
      defer { latest = nil }
      return latest
    }
    withExtendedLifetime(former) {}
  }
}

/// A subscriber to every event type, or to those of one name.
final class Wildcard: Sendable {
  let registration: Registration
  /// The name that it asked for; nil for every event.
  let name: EventName?
  /// The handler; nil where a receiver stands behind it.
  let body: @Sendable (any BusEvent) throws -> Void
  let receiver: Receiver?

  init(
    _ registration: Registration, named name: EventName?, receiver: Receiver? = nil,
    _ body: @escaping @Sendable (any BusEvent) throws -> Void = { _ in }
  ) {
    (self.registration, self.name, self.receiver, self.body) = (registration, name, receiver, body)
  }
}
