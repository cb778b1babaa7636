internal import CPubSub
internal import Scheduling
internal import Synchronization

/// The steps of a post from Swift to C.
///
/// Where it can, a step ends with a tail call of the next one, so that it saves no registers. This is an enum without cases,
/// because a class would need a look-up of its metadata.
///
/// The inline code is inlined into `EventBus.post` for `BusEvent`; `post` for `MainActorEvent` calls it out of line. If
/// both inlined it, the compiler would merge the two identical bodies and turn each function into a jump.
enum Posting {
  /// Posts an event to a topic that has been found.
  @inline(__always)
  static func post<E: EventBus.Event>(
    _ event: E, to topic: UnsafeMutablePointer<pubsub_topic>, from subject: (any AnyObject & Sendable)?
  ) {
    let flags = pubsub_flags(topic)
    let root = pubsub_root(topic)
    // Check both at once, so that a post without subscribers takes one branch.
    if UInt(bitPattern: flags) | UInt(bitPattern: root) == 0 { return }
    guard _fastPath(flags == 0), let root else { return postByAddress(event, to: topic, from: subject) }
    deliver(event, to: topic, from: address(of: subject), root)
  }

  @inline(never)
  static func postOutOfLine<E: EventBus.Event>(_ event: E, on core: BusCore, from subject: (any AnyObject & Sendable)?)
  {
    guard let topic = BusCore.topic(of: E.self, in: core.tableWord) ?? core.firstTopic(of: E.self) else { return }
    post(event, to: topic, from: subject)
  }

  @inline(never)
  private static func postByAddress<E: EventBus.Event>(
    _ event: E, to topic: UnsafeMutablePointer<pubsub_topic>, from subject: (any AnyObject & Sendable)?
  ) {
    withUnsafePointer(to: event) { pubsub_post($0, topic, address(of: subject)) }
  }

  /// The subject of the innermost post under way on this thread; nil if none is.
  static var subject: (any AnyObject & Sendable)? {
    innermostFrame.flatMap { subject(at: $0.pointee.subject) }
  }

  /// The frame of the innermost post under way on this thread; nil if none is.
  static var innermostFrame: UnsafeMutablePointer<pubsub_frame>? {
    let record = pubsub_record_of_thread()
    let depth = pubsub_depth(record)
    return depth > 0 ? pubsub_frame_at(record, depth - 1) : nil
  }

  /// Returns the subject at an address: the poster passed it as `Sendable`, and the post keeps it alive.
  fileprivate static func subject(at address: UnsafeRawPointer?) -> (any AnyObject & Sendable)? {
    unsafeBitCast(
      address.map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }, to: (any AnyObject & Sendable)?.self)
  }

  /// Notes that the handler which the innermost post on this thread calls has not received the event.
  static func noteUnheard() { innermostFrame?.pointee.is_unheard = true }

  /// Calls code that no post has called, perhaps inside a handler: ``subject`` is nil for it.
  static func withoutSubject(_ body: () -> Void) {
    guard let frame = innermostFrame else { return body() }
    let subject = frame.pointee.subject
    frame.pointee.subject = nil
    body()
    frame.pointee.subject = subject
  }

  /// Returns the address of an object, such as a subject.
  @inline(__always)
  static func address(of object: AnyObject?) -> UnsafeRawPointer? {
    object.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
  }
}

extension BusCore {
  /// Posts one of the bus's own events, such as `HandlerFailure`.
  func post<E: EventBus.Event>(_ event: E) { Posting.postOutOfLine(event, on: self, from: nil) }

  static func store(of topic: UnsafePointer<pubsub_topic>) -> Unmanaged<HandlerStore> {
    .fromOpaque(topic.pointee.store.unsafelyUnwrapped)
  }

  /// Returns whether a subscriber, a tracer, or the bus, which keeps sticky events, would receive a post of this type.
  func hasSubscribers<E: EventBus.Event>(_ type: E.Type) -> Bool {
    if type is any StickyEvent.Type || isWatched { return true }
    guard let topic = Self.topic(of: type, in: tableWord) else { return seesEveryPost.load(ordering: .acquiring) }
    return pubsub_root(topic) != nil || pubsub_flags(topic) & ~Int(PUBSUB_GENERAL) != 0
  }
}

// MARK: - The functions that C calls

extension BusCore {
  static let helpersAreSet: Void = withUnsafePointer(
    to: pubsub_helpers(
      post: { event, topic, subject in
        _ = store(of: topic)._withUnsafeGuaranteedRef { $0.postGenerally(event, from: Posting.subject(at: subject)) }
      },
      housekeep: { topic in
        store(of: topic)._withUnsafeGuaranteedRef { $0.core.housekeep() }
      },
      report_refusal: { reportRefusal($0) },
      report: { entry, topic, event, error in
        let entry = UnsafeRawPointer(entry).assumingMemoryBound(to: HandlerBlock.Entry.self).pointee
        let error = Calling.error(taking: error)
        store(of: topic)._withUnsafeGuaranteedRef {
          $0.core.report(error, of: entry.subscriber, with: $0.event(at: event))
        }
      },
      call_box: { box, event in
        Unmanaged<HandlerBox>.fromOpaque(box)._withUnsafeGuaranteedRef { $0.thrown(by: event) }
      },
      owner_is_gone: { registration in
        Unmanaged<Registration>.fromOpaque(registration)._withUnsafeGuaranteedRef { $0.ownerIsGone() }
      })
  ) { pubsub_set_helpers($0) }
}

// MARK: - Posts that exceed the nesting limit

extension BusCore {
  /// A refused post, which the refusing bus reports after the outermost post on the thread has ended.
  private final class Refusal: Sendable {
    let core: BusCore
    let chain: [EventName]
    init(by core: BusCore, _ chain: [EventName]) { (self.core, self.chain) = (core, chain) }
  }

  /// Refuses a post: delivers nothing, and notes the first refused post of the thread for a later report.
  ///
  /// Each refusal also lowers the depth from which posts inside this outermost post are refused. So two handlers that both post
  /// again end after some hundred calls; otherwise the limit would allow them 2^limit calls.
  func refuse(_ name: EventName, _ record: UnsafeMutablePointer<pubsub_record>) {
    let depth = pubsub_depth(record)
    record.pointee.ceiling = max(1, min(depth, record.pointee.ceiling == 0 ? depth : record.pointee.ceiling - 1))
    guard record.pointee.refusal == nil, SelfReport.refusal.mayBePosted() else { return }
    let chain = (0..<depth).compactMap { depth -> EventName? in
      pubsub_frame_at(record, depth).pointee.topic.map { Self.store(of: $0)._withUnsafeGuaranteedRef { $0.name } }
    }
    record.pointee.refusal = Unmanaged.passRetained(Refusal(by: self, chain + [name])).toOpaque()
  }

  /// Reports the post that was refused, after the outermost post on the thread has ended.
  private static func reportRefusal(_ record: UnsafeMutablePointer<pubsub_record>) {
    record.pointee.ceiling = 0
    guard let noted = record.pointee.refusal else { return }
    record.pointee.refusal = nil
    let refusal = Unmanaged<Refusal>.fromOpaque(noted).takeRetainedValue()
    refusal.core.post(EventBus.PostRefused(chain: refusal.chain))
  }
}
