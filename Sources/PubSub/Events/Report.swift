internal import CPubSub

/// The events by which a bus reports on itself, in the order in which one may lead to another.
///
/// Inside a handler of a report the bus posts only reports of a later kind. So no report can lead to reports without
/// end, whatever its handlers do. An event that is posted inside such a handler keeps the kind of report in its
/// mailboxes (``EventQueue/Mark``).
enum Report: Int {
  /// ``EventBus/PostRefused``.
  case refusal
  /// ``EventBus/Undelivered``.
  case undelivered
  /// ``EventBus/HandlerFailure``.
  case failure

  init?(_ type: any EventBus.Event.Type) {
    switch type {
    case is EventBus.PostRefused.Type: self = .refusal
    case is EventBus.Undelivered.Type: self = .undelivered
    case is EventBus.HandlerFailure.Type: self = .failure
    default: return nil
    }
  }

  /// Whether the bus may post a report of this kind about the present code, or about a handler that has returned.
  ///
  /// - Parameter earlier: the report inside whose handler that handler was called; nil for the present code.
  /// - Returns: false if a report of this kind or a later one led to that code.
  func mayBePosted(after earlier: Report? = nil) -> Bool {
    guard let latest = Self.latest(earlier, Self.enclosing) else { return true }
    return latest.rawValue < rawValue
  }

  /// The latest kind of report inside whose handler the present code runs; nil if there is none.
  private static var enclosing: Report? {
    latest(HandlerContext.enclosing?.run?.report, Posting.report(upTo: Posting.depth))
  }

  /// Returns the kind of report inside whose handler the present post to a store is made; nil if there is none.
  ///
  /// With `countsOwn` the event itself counts, too. A receiver that knows the event's type need not ask for that.
  static func ofPost(to store: HandlerStore, countsOwn: Bool) -> Report? {
    // The innermost post on this thread is the present one, also for an event that is replayed or has waited.
    let report = latest(HandlerContext.enclosing?.run?.report, Posting.report(upTo: Posting.depth - 1))
    return report == nil && !countsOwn ? nil : latest(report, store.report)
  }

  static func earlier(_ one: Report, _ other: Report) -> Report { one.rawValue < other.rawValue ? one : other }

  private static func latest(_ one: Report?, _ other: Report?) -> Report? {
    guard let one, let other else { return one ?? other }
    return one.rawValue < other.rawValue ? other : one
  }
}

extension Posting {
  /// The latest kind of report among the outer posts under way on this thread; nil if there is none.
  fileprivate static func report(upTo depth: Int) -> Report? {
    if depth <= 0 { return nil }
    let record = pubsub_record_of_thread()
    let reports = (0..<depth).compactMap { depth -> Report? in
      pubsub_frame_at(record, depth).pointee.topic.flatMap {
        BusCore.store(of: $0)._withUnsafeGuaranteedRef { $0.report }
      }
    }
    return reports.max { $0.rawValue < $1.rawValue }
  }
}

extension HandlerStore {
  /// The kind of report that the events of this store are; nil if they are none.
  fileprivate var report: Report? {
    switch self {
    case is TopicStore<EventBus.PostRefused>: .refusal
    case is TopicStore<EventBus.Undelivered>: .undelivered
    case is TopicStore<EventBus.HandlerFailure>: .failure
    default: nil
    }
  }
}
