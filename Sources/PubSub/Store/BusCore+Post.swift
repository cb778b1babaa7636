internal import CPubSub
internal import Synchronization

extension BusCore {
  /// Posts one of the bus's own events, such as `HandlerFailure`.
  func post<E: EventBus.Event>(_ event: E) { Posting.postOutOfLine(event, on: self, from: nil) }

  static func store(of topic: UnsafePointer<pubsub_topic>) -> Unmanaged<HandlerStore> {
    .fromOpaque(topic.pointee.store.unsafelyUnwrapped)
  }

  /// Returns whether a subscriber, a tracer, or the bus, which keeps sticky events, would receive a post of this type.
  func hasSubscribers<E: EventBus.Event>(_ type: E.Type) -> Bool {
    type is any StickyEvent.Type || hasReceivers(of: type)
  }

  /// Returns the same for a type of which the bus keeps no event.
  func hasReceivers<E: EventBus.Event>(of type: E.Type) -> Bool {
    if isWatched { return true }
    guard let topic = knownTopic(of: type) else { return seesEveryPost.load(ordering: .acquiring) }
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
      housekeep: { store(of: $0)._withUnsafeGuaranteedRef { $0.core.housekeep() } },
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
