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
    // A function of its own for the rest: a post to nobody is over before any register has to be saved.
    if pubsub_is_idle(topic) { return }
    deliver(event, to: topic, from: subject)
  }

  @inline(never)
  private func deliver<E: BusEvent>(
    _ event: E, to topic: UnsafeMutablePointer<pubsub_topic>, from subject: (any AnyObject & Sendable)?
  ) {
    // Handlers take the event by address.
    withUnsafePointer(to: event) { address in
      let rest = pubsub_post(topic, address)
      if rest != pubsub_done { finish(rest, UnsafeRawPointer(address), topic, subject) }
    }
  }

  /// Does what the fast path left.
  @inline(never)
  private func finish(
    _ rest: pubsub_rest, _ event: UnsafeRawPointer, _ topic: UnsafeMutablePointer<pubsub_topic>,
    _ subject: (any AnyObject & Sendable)?
  ) {
    if rest == pubsub_general {
      let owner = topic.pointee.owner.unsafelyUnwrapped
      return Unmanaged<HandlerStore>.fromOpaque(owner)._withUnsafeGuaranteedRef {
        $0.postGenerally(event, from: subject, in: self)
      }
    }
    let record = pubsub_record_of_thread()
    if record.pointee.depth == 0, record.pointee.refusal != nil { reportRefusal(record) }
    housekeep()
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
