internal import CPubSub

/// The handlers of the events of one type, and what the bus keeps of these events.
final class TopicStore<E: BusEvent>: HandlerStore, @unchecked Sendable {
  /// The latest event of a sticky type, if there is one, and its subject; guarded by the order.
  ///
  /// In memory of its own: an optional of a type that is not known here would be looked up at each post.
  private let place = UnsafeMutablePointer<E>.allocate(capacity: 1)
  private var hasLatest = false
  private var subject: WeakReference?
  /// Whether the event is kept in a weak form.
  private let isWeaklyKept = E.self is any WeaklyKept.Type

  init(_ description: EventDescription<E>, in core: BusCore, limit: Int) {
    super.init(name: description.name, traits: description.traits, in: core, limit: limit)
  }

  deinit {
    if hasLatest { place.deinitialize(count: 1) }
    place.deallocate()
  }

  override func handler(of wildcard: Wildcard) -> pubsub_handler {
    let body = wildcard.body
    return .of { (event: E) in try body(event) }
  }

  override func event(at event: UnsafeRawPointer) -> any BusEvent { event.assumingMemoryBound(to: E.self).pointee }

  override func inOrder(_ event: UnsafeRawPointer, from subject: (any AnyObject & Sendable)?, _ body: () -> Void) {
    guard isSticky else { return body() }
    var reference = subject.map(WeakReference.init)
    // What is replaced is released without the lock: its deinitialiser may call the bus.
    withUnsafeTemporaryAllocation(of: E.self, capacity: 2) { places in
      let (new, former) = (places.baseAddress.unsafelyUnwrapped, places.baseAddress.unsafelyUnwrapped + 1)
      let event = event.assumingMemoryBound(to: E.self)
      if isWeaklyKept { initializeWeakly(new, event) } else { new.initialize(to: event.pointee) }
      var hadLatest = false
      withOrder {
        hadLatest = replaceLatest(by: new, former, &reference)
        body()
      }
      if hadLatest { former.deinitialize(count: 1) }
    }
  }

  /// Moves an event to the place of the latest, and that to another; false if there was none.
  private func replaceLatest(
    by new: UnsafeMutablePointer<E>?, _ former: UnsafeMutablePointer<E>, _ reference: inout WeakReference?
  ) -> Bool {
    defer { hasLatest = new != nil }
    if hasLatest { former.moveInitialize(from: place, count: 1) }
    if let new { place.moveInitialize(from: new, count: 1) }
    swap(&subject, &reference)
    return hasLatest
  }

  /// Not inline: it looks up what an optional of the type is.
  @inline(never)
  private func initializeWeakly(_ place: UnsafeMutablePointer<E>, _ event: UnsafePointer<E>) {
    place.initialize(to: (event.pointee as? any WeaklyKept)?.weakened() as? E ?? event.pointee)
  }

  /// The latest event, if its subject is accepted.
  ///
  /// The caller holds the order. What was looked at is let go of without it.
  func latest(keeping released: inout Released, where accepts: ((any AnyObject & Sendable)?) -> Bool) -> E? {
    if !hasLatest { return nil }
    let poster = subject?.object
    if let poster { released.keep(poster) }
    guard accepts(poster) else { return nil }
    guard isWeaklyKept, let weak = place.pointee as? any WeaklyKept else { return place.pointee }
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
    withUnsafeTemporaryAllocation(of: E.self, capacity: 1) { places in
      let former = places.baseAddress.unsafelyUnwrapped
      var reference: WeakReference?
      if withOrder({ replaceLatest(by: nil, former, &reference) }) { former.deinitialize(count: 1) }
    }
  }
}

/// A subscriber to every event type, or to those of one name.
final class Wildcard: Sendable {
  let registration: Registration
  /// The name that it asked for; nil for every event.
  let name: EventName?
  /// The handler; it does nothing where there is a receiver.
  let body: @Sendable (any BusEvent) throws -> Void
  let receiver: Receiver?

  init(
    _ registration: Registration, named name: EventName?, receiver: Receiver? = nil,
    _ body: @escaping @Sendable (any BusEvent) throws -> Void = { _ in }
  ) {
    (self.registration, self.name, self.receiver, self.body) = (registration, name, receiver, body)
  }
}
