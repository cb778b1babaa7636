internal import CPubSub
internal import Synchronization

/// The events by which a bus reports on itself, in the order in which one may lead to another.
///
/// Inside a handler of a report the bus posts only reports of a later kind, so no report can lead to reports without
/// end. An event that is posted inside such a handler keeps the kind of report in its mailboxes (``EventQueue/Mark``).
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

  /// Whether the bus may post a report of this kind about the present code or, with `earlier`, about a handler that is no longer on
  /// the stack, or about a post that found none.
  ///
  /// - Parameter earlier: the kind of report inside whose handler that handler was called; nil for the present code.
  /// - Returns: false if a report of this kind or a later one led to that code.
  func mayBePosted(after earlier: SelfReport? = nil) -> Bool {
    guard let latest = Self.latest(earlier, Self.enclosing) else { return true }
    return latest < self
  }

  static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }

  /// The number of asynchronous handlers that run inside a report; nearly always zero, so that a post need not look at
  /// its task's context.
  static let runsUnderWay = Atomic(0)

  /// The latest kind of report inside whose handler or post the present code runs; nil if there is none.
  static var enclosing: SelfReport? {
    let ofTask = runsUnderWay.load(ordering: .relaxed) == 0 ? nil : HandlerContext.enclosing?.run?.reportKind
    let record = pubsub_record_of_thread()
    return (0..<pubsub_depth(record)).reduce(ofTask) { report, depth in
      guard let topic = pubsub_frame_at(record, depth).pointee.topic else { return report }
      return latest(report, BusCore.store(of: topic)._withUnsafeGuaranteedRef { $0.reportKind })
    }
  }

  private static func latest(_ one: SelfReport?, _ other: SelfReport?) -> SelfReport? {
    guard let one, let other else { return one ?? other }
    return max(one, other)
  }
}
