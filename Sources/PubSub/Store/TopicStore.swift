internal import CPubSub

/// The store of one event type with its static type; it also holds the latest event of a sticky type.
final class TopicStore<E: BusEvent>: HandlerStore, @unchecked Sendable {
  /// The memory for the latest event of a sticky type; the order lock guards it, `hasLatest` and `subject`.
  ///
  /// A stored property of type `E?` would need a metadata look-up at each post.
  private let place = UnsafeMutablePointer<E>.allocate(capacity: 1)
  private var hasLatest = false
  private var subject: WeakReference?
  /// Whether the type is ``WeaklyKept``, so that the store keeps a weak copy of the event.
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
    // The replaced event is released after the lock: its deinitializer may call the bus.
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

  /// Makes an event, or nil, the latest, and moves the former one to `former`; returns false if there was none.
  private func replaceLatest(
    by new: UnsafeMutablePointer<E>?, _ former: UnsafeMutablePointer<E>, _ reference: inout WeakReference?
  ) -> Bool {
    defer { hasLatest = new != nil }
    if hasLatest { former.moveInitialize(from: place, count: 1) }
    if let new { place.moveInitialize(from: new, count: 1) }
    swap(&subject, &reference)
    return hasLatest
  }

  /// Not inlined, because it needs the metadata of an optional of the type.
  @inline(never)
  private func initializeWeakly(_ place: UnsafeMutablePointer<E>, _ event: UnsafePointer<E>) {
    place.initialize(to: (event.pointee as? any WeaklyKept)?.weakened() as? E ?? event.pointee)
  }

  /// Returns the latest event, if `accepts` is true for its subject.
  ///
  /// The caller holds the order lock. `released` releases the subject after the lock.
  func latest(keeping released: inout Released, where accepts: ((any AnyObject & Sendable)?) -> Bool) -> E? {
    if !hasLatest { return nil }
    let poster = subject?.object
    if let poster { released.keep(poster) }
    guard accepts(poster) else { return nil }
    guard isWeaklyKept, let weak = place.pointee as? any WeaklyKept else { return place.pointee }
    return weak.strengthened() as? E
  }

  /// Returns the latest event, if `accepts` is true for its subject.
  func latest(where accepts: ((any AnyObject & Sendable)?) -> Bool) -> E? {
    var released = Released()
    let latest = withOrder { self.latest(keeping: &released, where: accepts) }
    released.finish()
    return latest
  }

  /// Removes the latest event.
  func removeLatest() {
    withUnsafeTemporaryAllocation(of: E.self, capacity: 1) { places in
      let former = places.baseAddress.unsafelyUnwrapped
      var reference: WeakReference?
      if withOrder({ replaceLatest(by: nil, former, &reference) }) { former.deinitialize(count: 1) }
    }
  }
}

/// A subscriber to every event type, or to the event types of one name.
final class Wildcard: Sendable {
  let registration: Registration
  /// The name of the event types; nil for all event types.
  let name: EventName?
  /// The handler; it does nothing if there is a receiver.
  let body: @Sendable (any BusEvent) throws -> Void
  let receiver: Receiver?

  init(
    _ registration: Registration, named name: EventName?, receiver: Receiver? = nil,
    _ body: @escaping @Sendable (any BusEvent) throws -> Void = { _ in }
  ) {
    (self.registration, self.name, self.receiver, self.body) = (registration, name, receiver, body)
  }
}
