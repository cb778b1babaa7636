internal import CPubSub
internal import Synchronization

/// The events by which a bus reports on itself, in the order in which one may lead to another.
///
/// Inside a handler of a report the bus posts only reports of a later kind. So no report can lead to reports without
/// end, whatever its handlers do. An event that is posted inside such a handler keeps the kind of report in its
/// mailboxes (``EventQueue/Mark``).
enum SelfReport: Int, Comparable {
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
  func mayBePosted(after earlier: SelfReport? = nil) -> Bool {
    guard let latest = Self.latest(earlier, Self.enclosing) else { return true }
    return latest < self
  }

  static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }

  /// The number of asynchronous handlers of reports, and of what was posted inside them, that run in the process.
  ///
  /// It is nearly always zero, so that a post need not look at its task's context.
  static let runsUnderWay = Atomic(0)

  /// The latest kind of report inside whose handler the present code runs; nil if there is none.
  private static var enclosing: SelfReport? { latest(ofTask, Posting.report(upTo: Posting.depth)) }

  private static var ofTask: SelfReport? {
    runsUnderWay.load(ordering: .relaxed) == 0 ? nil : HandlerContext.enclosing?.run?.report
  }

  /// Returns the kind of report inside whose handler the present post to a store is made; nil if there is none.
  ///
  /// With `countsOwn` the event itself counts, too. A receiver that knows the event's type need not ask for that.
  static func ofPost(to store: HandlerStore, countsOwn: Bool) -> SelfReport? {
    let report = latest(ofTask, Posting.report(around: store))
    return report == nil && !countsOwn ? nil : latest(report, store.report)
  }

  fileprivate static func latest(_ one: SelfReport?, _ other: SelfReport?) -> SelfReport? {
    guard let one, let other else { return one ?? other }
    return max(one, other)
  }
}

extension Posting {
  /// The latest kind of report among the posts on this thread around the present post to a store; nil if there is none.
  fileprivate static func report(around store: HandlerStore) -> SelfReport? {
    let depth = depth
    if depth <= 0 { return nil }
    // An event that is replayed is held without a post.
    let isPosted = pubsub_frame_at(pubsub_record_of_thread(), depth - 1).pointee.topic == store.topic
    return report(upTo: isPosted ? depth - 1 : depth)
  }

  /// The latest kind of report among the outermost posts under way on this thread; nil if there is none.
  fileprivate static func report(upTo depth: Int) -> SelfReport? {
    if depth <= 0 { return nil }
    let record = pubsub_record_of_thread()
    var report: SelfReport?
    for depth in 0..<depth {
      guard let topic = pubsub_frame_at(record, depth).pointee.topic else { continue }
      report = SelfReport.latest(report, BusCore.store(of: topic)._withUnsafeGuaranteedRef { $0.report })
    }
    return report
  }
}
