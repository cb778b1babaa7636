internal import CPubSub

/// A post on its way to C.
///
/// Each step is the last thing that the one before it does, so none has to keep anything for later: what a post without
/// receivers needs fits into the registers that it finds. A namespace and not a class, which would be asked for its metadata.
///
/// What is inline here is inlined into one public function and called by its twin for main-actor events: of two that are
/// alike the compiler would make one, and a jump to it of each.
enum Posting {
  /// Posts an event to a topic that has been found.
  @inline(__always)
  static func post<E: BusEvent>(
    _ event: E, to topic: UnsafeMutablePointer<pubsub_topic>, from subject: (any AnyObject & Sendable)?
  ) {
    // Elsewhere, so that a post without receivers jumps once, over what it does not need.
    if _slowPath(pubsub_flags(topic) & Int(PUBSUB_GENERAL | PUBSUB_INDIRECT) != 0) {
      return postSpecially(event, to: topic, from: subject)
    }
    guard let root = pubsub_root(topic) else { return }
    postEvent(event, topic, address(of: subject), root)
  }

  @inline(never)
  static func postOutOfLine<E: BusEvent>(_ event: E, on core: BusCore, from subject: (any AnyObject & Sendable)?) {
    guard let topic = BusCore.topic(of: E.self, in: core.table) else {
      return postFirst(event, on: core, from: subject)
    }
    post(event, to: topic, from: subject)
  }

  @inline(never)
  static func postOutOfLine<E: BusEvent>(
    _ event: E, to topic: UnsafeMutablePointer<pubsub_topic>, from subject: (any AnyObject & Sendable)?
  ) {
    post(event, to: topic, from: subject)
  }

  /// Posts the first event of its type.
  @inline(never)
  static func postFirst<E: BusEvent>(_ event: E, on core: BusCore, from subject: (any AnyObject & Sendable)?) {
    if let topic = core.firstTopic(of: E.self) { postOutOfLine(event, to: topic, from: subject) }
  }

  /// Posts an event to a topic with flags.
  @inline(never)
  private static func postSpecially<E: BusEvent>(
    _ event: E, to topic: UnsafeMutablePointer<pubsub_topic>, from subject: (any AnyObject & Sendable)?
  ) {
    if pubsub_root(topic) == nil, pubsub_flags(topic) & Int(PUBSUB_GENERAL) == 0 { return }
    // Where C does not receive events as it expects them, and here in any case, the address is taken.
    withUnsafePointer(to: event) { pubsub_post($0, topic, address(of: subject)) }
  }

  @inline(__always)
  private static func address(of subject: (any AnyObject & Sendable)?) -> UnsafeRawPointer? {
    subject.map { UnsafeRawPointer(Unmanaged.passUnretained($0 as AnyObject).toOpaque()) }
  }
}

extension BusCore {
  /// Posts an event of the bus's own.
  func post<E: BusEvent>(_ event: E) { Posting.postOutOfLine(event, on: self, from: nil) }

  /// Posts what the fast path cannot.
  static let postGenerally: pubsub_general_post = { event, topic, subject in
    store(of: topic)._withUnsafeGuaranteedRef { store in
      let subject = subject.map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
      // A subject came as sendable; that it is one left no trace in its address.
      store.postGenerally(event, from: unsafeBitCast(subject, to: (any AnyObject & Sendable)?.self), in: store.core)
    }
  }

  /// Does what a post has left to do.
  static let housekeep: pubsub_housekeeper = { topic in
    store(of: topic)._withUnsafeGuaranteedRef { store in
      reportRefusal(pubsub_record_of_thread())
      store.core.housekeep()
    }
  }

  private static func store(of topic: UnsafeMutablePointer<pubsub_topic>) -> Unmanaged<HandlerStore> {
    .fromOpaque(topic.pointee.owner.unsafelyUnwrapped)
  }
}

extension BusCore {
  /// Whether a post of this type would reach a receiver or a tracer: else the event need not be made.
  func isHeard<E: BusEvent>(_ type: E.Type) -> Bool {
    guard let topic = Self.topic(of: type, in: table) else { return canBeHeardByAll }
    return pubsub_root(topic) != nil || pubsub_flags(topic) & Int(PUBSUB_GENERAL) != 0
  }
}

// MARK: - Posts nested too deep

extension BusCore {
  /// A post that was refused, to be reported, on the bus that refused it, once the stack has unwound.
  private final class Refusal: Sendable {
    let core: BusCore
    let chain: [EventName]
    init(by core: BusCore, _ chain: [EventName]) { (self.core, self.chain) = (core, chain) }
  }

  /// Refuses a post: nothing is delivered, and the first one refused on this thread is reported later.
  func refuse(_ name: EventName, _ record: UnsafeMutablePointer<pubsub_record>) {
    guard record.pointee.refusal == nil else { return }
    let chain = (0..<pubsub_depth(record)).compactMap { depth -> EventName? in
      guard let topic = pubsub_topic_at(record, depth)?.assumingMemoryBound(to: pubsub_topic.self) else { return nil }
      return topic.pointee.owner.map { Unmanaged<HandlerStore>.fromOpaque($0).takeUnretainedValue().name }
    }
    pubsub_note_refusal(record, Unmanaged.passRetained(Refusal(by: self, chain + [name])).toOpaque())
  }

  /// Reports what was refused while the outermost post was under way, if anything was and that has ended.
  ///
  /// What is refused while the report is under way is not reported: two reports could beget each other without end.
  fileprivate static func reportRefusal(_ record: UnsafeMutablePointer<pubsub_record>) {
    guard let noted = pubsub_begin_report(record) else { return }
    let refusal = Unmanaged<Refusal>.fromOpaque(noted).takeRetainedValue()
    refusal.core.post(PostRefused(chain: refusal.chain))
    pubsub_end_report(record)
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

  /// Shows a post to the tracers; what they post is nested in it.
  func observe<E: BusEvent>(_ event: E, to topic: UnsafeMutablePointer<pubsub_topic>) {
    let tracers = tracers.withLock { $0 }
    if tracers.isEmpty { return }
    let record = pubsub_record_of_thread()
    let depth = pubsub_depth(record)
    // Only a post that waits can be as deep, from a task that began inside a handler or a tracer.
    guard depth < topic.pointee.limit else { return }
    pubsub_enter_unread(record, depth, topic)
    for tracer in tracers { tracer.body(event) }
    pubsub_leave(record, depth)
  }

  /// The same for a post that waits, which is under way on no thread.
  func observeAwaited<E: BusEvent>(_ event: E, to topic: UnsafeMutablePointer<pubsub_topic>) {
    observe(event, to: topic)
    Self.reportRefusal(pubsub_record_of_thread())
  }

  /// Posts `Undelivered` for an event without a receiver; never for itself.
  func reportUndelivered<E: BusEvent>(_ event: E) {
    // Most programs have no subscriber to `Undelivered`. A tracer is no receiver.
    guard let topic = Self.topic(of: Undelivered.self, in: table), pubsub_root(topic) != nil, !(event is Undelivered)
    else { return }
    post(Undelivered(event: event))
  }
}
