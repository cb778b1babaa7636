internal import CPubSub
internal import Scheduling

/// The store of one event type with its static type; it also holds the latest event of a sticky type.
final class TopicStore<E: EventBus.Event>: HandlerStore, @unchecked Sendable {
  /// The latest event of one subject, which keeps the memory of a subject that is gone until ``keep(_:of:_:)`` drops it.
  private final class KeptEvent: Sendable {
    private let reference: ObjectReference
    let event: E

    init(_ event: E, from subject: any AnyObject & Sendable) {
      (self.event, reference) = (event, ObjectReference(subject))
    }

    deinit { reference.end() }

    var subject: (any AnyObject & Sendable)? { reference.object }
  }

  /// The memory for the latest event of a sticky type; a property of type `E?` would need a metadata look-up at each
  /// post.
  private let place = UnsafeMutablePointer<E>.allocate(capacity: 1)
  /// Whether the memory has an event; the sticky lock guards it, and the events of subjects.
  @exclusivity(unchecked) private var hasLatest = false
  /// Whether the bus still exists, which keeps the latest event; the sticky lock guards it.
  @exclusivity(unchecked) private var keepsLatest = true
  /// The latest event of each subject.
  private var ofSubjects: [ObjectIdentifier: KeptEvent] = [:]
  /// The number of subjects at which those that are gone are looked for.
  private var sweepCount = 16
  /// The number of changes of the latest event: of posts and removals; the sticky lock guards it.
  ///
  /// A link compares these numbers, because threads that post at the same time reach it in any order.
  private var changes = 0
  /// The type if it is ``WeaklyKept``: the store keeps a weak copy of the event.
  private let weaklyKept = E.self as? any WeaklyKept.Type

  init(in core: BusCore) { super.init(of: E.self, in: core) }

  deinit {
    if hasLatest { place.deinitialize(count: 1) }
    place.deallocate()
  }

  override func handler(of wildcard: Wildcard) -> pubsub_handler {
    let body = wildcard.body
    return .of { (event: E) in try body(event) }
  }

  override func event(at event: UnsafeRawPointer) -> any EventBus.Event {
    event.assumingMemoryBound(to: E.self).pointee
  }

  override func keepLatest(_ event: UnsafeRawPointer, from subject: (any AnyObject & Sendable)?, _ body: (Int) -> Void)
  {
    guard isSticky else { return body(0) }
    // What is replaced is released after the lock: a deinitializer may call the bus.
    var released: [any AnyObject & Sendable] = []
    withTwoPlaces { new, former in
      if let weaklyKept {
        initializeWeakly(new, event, as: weaklyKept)
      } else {
        new.initialize(to: event.assumingMemoryBound(to: E.self).pointee)
      }
      let kept = subject == nil ? nil : keptEvent(new, subject)
      var formerHoldsEvent = false
      underStickyLock {
        changes += 1
        if keepsLatest {
          formerHoldsEvent = replaceLatest(by: new, former)
          if let subject, let kept { keep(kept, of: subject, &released) }
        } else {
          // It is dropped after the lock, like one that is replaced.
          former.moveInitialize(from: new, count: 1)
          formerHoldsEvent = true
        }
        body(changes)
      }
      if formerHoldsEvent { former.deinitialize(count: 1) }
    }
    withExtendedLifetime(released) {}
  }

  /// Calls `body` with memory for two events; as bytes, because a buffer of `E` would need a metadata look-up.
  @inline(__always)
  private func withTwoPlaces(_ body: (UnsafeMutablePointer<E>, UnsafeMutablePointer<E>) -> Void) {
    let stride = MemoryLayout<E>.stride
    withUnsafeTemporaryAllocation(byteCount: 2 * stride, alignment: MemoryLayout<E>.alignment) { bytes in
      let place = bytes.baseAddress.unsafelyUnwrapped
      body(place.assumingMemoryBound(to: E.self), (place + stride).assumingMemoryBound(to: E.self))
    }
  }

  /// Makes an event, or nil, the latest, and moves the former one to `former`; returns false if there was none.
  private func replaceLatest(by new: UnsafeMutablePointer<E>?, _ former: UnsafeMutablePointer<E>) -> Bool {
    let hadLatest = hasLatest
    if hadLatest { former.moveInitialize(from: place, count: 1) }
    if let new { place.moveInitialize(from: new, count: 1) }
    hasLatest = new != nil
    return hadLatest
  }

  /// Keeps the latest event of a subject, and from time to time drops those of subjects that are gone.
  private func keep(
    _ kept: KeptEvent, of subject: any AnyObject & Sendable, _ released: inout [any AnyObject & Sendable]
  ) {
    if let former = ofSubjects.updateValue(kept, forKey: ObjectIdentifier(subject)) { released.append(former) }
    guard ofSubjects.count >= sweepCount else { return }
    for (key, kept) in ofSubjects {
      if let subject = kept.subject {
        // This may be its last reference, and its deinitializer may call the bus.
        released.append(subject)
      } else {
        ofSubjects[key] = nil
        released.append(kept)
      }
    }
    sweepCount = max(16, 2 * ofSubjects.count)
  }

  // These two are not inlined, because they need metadata that depend on the type.

  @inline(never)
  private func keptEvent(_ event: UnsafePointer<E>, _ subject: (any AnyObject & Sendable)?) -> KeptEvent? {
    subject.map { KeptEvent(event.pointee, from: $0) }
  }

  /// Initializes memory with the weak copy of an event; `W` is `E`, so no cast is needed.
  @inline(never)
  private func initializeWeakly<W: WeaklyKept>(
    _ place: UnsafeMutableRawPointer, _ event: UnsafeRawPointer, as type: W.Type
  ) {
    place.initializeMemory(as: type, to: event.assumingMemoryBound(to: type).pointee.weakened())
  }

  private func strengthened(_ event: E) -> E? {
    guard weaklyKept != nil, let weak = event as? any WeaklyKept else { return event }
    return weak.strengthened() as? E
  }

  /// Returns the latest event of a subject, or, with nil, of the type; the caller holds the sticky lock and the subject.
  func latestUnderLock(from subject: (any AnyObject & Sendable)?) -> E? {
    guard let subject else { return hasLatest ? strengthened(place.pointee) : nil }
    guard let kept = ofSubjects[ObjectIdentifier(subject)], kept.subject === subject else { return nil }
    return strengthened(kept.event)
  }

  func latest(from subject: (any AnyObject & Sendable)?) -> E? { underStickyLock { latestUnderLock(from: subject) } }

  @discardableResult
  override func removeLatest(forGood isLast: Bool = false) -> Int {
    var removed: [ObjectIdentifier: KeptEvent] = [:]
    var change = 0
    withTwoPlaces { _, former in
      let hadLatest = underStickyLock {
        changes += 1
        change = changes
        if isLast { keepsLatest = false }
        swap(&removed, &ofSubjects)
        return replaceLatest(by: nil, former)
      }
      if hadLatest { former.deinitialize(count: 1) }
    }
    withExtendedLifetime(removed) {}
    return change
  }
}
