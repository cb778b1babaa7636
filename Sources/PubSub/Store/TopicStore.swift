internal import CPubSub

/// The handlers of the events of one type, and what the bus keeps of these events.
final class TopicStore<E: BusEvent>: HandlerStore, @unchecked Sendable {
  /// The latest event of a sticky type, with its subject; guarded by the bus's lock.
  private var latest: (event: E, subject: WeakReference?)?

  init(_ description: EventDescription<E>, in core: BusCore, limit: Int) {
    super.init(name: description.name, traits: description.traits, in: core, limit: limit)
  }

  override func handler(of wildcard: Wildcard) -> pubsub_handler {
    let deliver = wildcard.deliver
    return .of { (event: E) in deliver(event) }
  }

  override func willPost(_ event: UnsafeRawPointer, from subject: (any AnyObject & Sendable)?, in core: BusCore)
    -> UInt64
  {
    let event = event.assumingMemoryBound(to: E.self)
    core.observe(event.pointee, to: topic)
    guard traits.contains(.sticky) else { return core.nextID }
    // Together under the lock: an earlier subscription gets this post, a later one replays the latest event.
    let (former, firstUnseen) = core.withLock { _ in (keep(event.pointee, from: subject), core.nextID) }
    // Released without the lock: its deinitialiser may call the bus.
    withExtendedLifetime(former) {}
    return firstUnseen
  }

  /// Keeps an event of a sticky type as the latest; the former one is to be released without the lock.
  func keep(_ event: E, from subject: (any AnyObject & Sendable)?) -> (event: E, subject: WeakReference?)? {
    guard traits.contains(.sticky) else { return nil }
    let kept = (event as? any WeaklyKept)?.weakened() as? E ?? event
    defer { latest = (kept, subject.map(WeakReference.init)) }
    return latest
  }

  override func wasNotReceived(_ event: UnsafeRawPointer, in core: BusCore) {
    core.reportUndelivered(event.assumingMemoryBound(to: E.self).pointee)
  }

  /// The latest event, if its subject is accepted; the caller holds the lock.
  func latest(
    keeping released: inout Released, where accepts: ((any AnyObject & Sendable)?) -> Bool
  ) -> E? {
    guard let latest else { return nil }
    let poster = latest.subject?.object
    if let poster { released.keep(poster) }
    guard accepts(poster) else { return nil }
    guard let weak = latest.event as? any WeaklyKept else { return latest.event }
    return weak.strengthened() as? E
  }

  /// The latest event, if this subscriber receives it; the caller holds the lock.
  func latest(for registration: Registration?, keeping released: inout Released) -> E? {
    latest(keeping: &released) { registration?.accepts($0) ?? true }
  }

  /// Keeps no event any more; the former one is to be released without the lock.
  func takeLatest() -> (event: E, subject: WeakReference?)? {
    defer { latest = nil }
    return latest
  }
}

/// A subscriber to every event type, or to those of one name.
final class Wildcard: Sendable {
  let registration: Registration
  /// The name that it asked for; nil for every event.
  let name: EventName?
  let deliver: @Sendable (any BusEvent) -> Void

  init(_ registration: Registration, named name: EventName?, _ deliver: @escaping @Sendable (any BusEvent) -> Void) {
    self.registration = registration
    self.name = name
    self.deliver = deliver
  }
}
