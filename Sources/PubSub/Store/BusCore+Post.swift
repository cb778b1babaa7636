internal import CPubSub

extension BusCore {
  /// Posts an event to its topic.
  @inline(__always)
  func post<E: BusEvent>(_ event: E, from subject: (any AnyObject & Sendable)?) {
    guard let topic = topic(of: E.self) else { return }
    post(event, to: topic, from: subject)
  }

  /// Posts an event to a topic that has been found.
  @inline(__always)
  func post<E: BusEvent>(
    _ event: E, to topic: UnsafeMutablePointer<pubsub_topic>, from subject: (any AnyObject & Sendable)?
  ) {
    // A post to nobody is over before any register has to be saved.
    if pubsub_is_idle(topic) { return }
    let subject = subject.map { UnsafeRawPointer(Unmanaged.passUnretained($0 as AnyObject).toOpaque()) }
    if takesAddresses { return postEvent(event, topic, subject) }
    withUnsafePointer(to: event) { address in
      let rest = pubsub_post(topic, address)
      if rest != pubsub_done { Self.finisher(rest, address, topic, subject) }
    }
  }

  /// Does what the fast path left.
  static let finisher: pubsub_finisher = { rest, event, topic, subject in
    Unmanaged<HandlerStore>.fromOpaque(topic.pointee.owner.unsafelyUnwrapped)._withUnsafeGuaranteedRef { store in
      if rest == pubsub_general {
        let subject = subject.map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
        // A subject came as sendable; that it is one left no trace in its address.
        store.postGenerally(event, from: unsafeBitCast(subject, to: (any AnyObject & Sendable)?.self), in: store.core)
      } else {
        let record = pubsub_record_of_thread()
        if record.pointee.depth == 0, record.pointee.refusal != nil { store.core.reportRefusal(record) }
        store.core.housekeep()
      }
    }
  }
}

// MARK: - Posts nested too deep

extension BusCore {
  /// A post that was refused, to be reported once the stack has unwound.
  private final class Refusal: Sendable {
    let chain: [EventName]
    init(_ chain: [EventName]) { self.chain = chain }
  }

  /// Refuses a post: nothing is delivered, and the first one refused on this thread is reported later.
  func refuse(_ name: EventName, _ record: UnsafeMutablePointer<pubsub_record>) {
    guard record.pointee.refusal == nil else { return }
    let chain = (0..<record.pointee.depth).compactMap { depth -> EventName? in
      guard let topic = pubsub_topic_at(record, depth)?.assumingMemoryBound(to: pubsub_topic.self) else { return nil }
      return topic.pointee.owner.map { Unmanaged<HandlerStore>.fromOpaque($0).takeUnretainedValue().name }
    }
    record.pointee.refusal = Unmanaged.passRetained(Refusal(chain + [name])).toOpaque()
  }

  /// Reports what was refused while the outermost post was under way.
  func reportRefusal(_ record: UnsafeMutablePointer<pubsub_record>) {
    guard let refusal = record.pointee.refusal else { return }
    record.pointee.refusal = nil
    post(PostRefused(chain: Unmanaged<Refusal>.fromOpaque(refusal).takeRetainedValue().chain), from: nil)
  }
}

// MARK: - Observers

extension BusCore {
  /// Shows every post to a tracer until it is removed.
  func add(_ tracer: Tracer) {
    tracers.withLock { $0.append(tracer) }
    withLock { _ in followObservers() }
  }

  func remove(_ tracer: Tracer) {
    tracers.withLock { $0.removeAll { $0 === tracer } }
    withLock { _ in followObservers() }
  }

  /// Shows a post to the tracers.
  func observe<E: BusEvent>(_ event: E) {
    for tracer in tracers.withLock({ $0 }) { tracer.body(event) }
  }

  /// Tells that nobody received an event; never of itself.
  func reportUndelivered<E: BusEvent>(_ event: E) {
    guard !(event is Undelivered) else { return }
    post(Undelivered(event: event), from: nil)
  }
}
