internal import CPubSub
internal import Synchronization

/// The events by which a bus reports on itself, in the order in which one may lead to another.
///
/// Inside a handler of a report the bus posts only reports of a later kind, so no report can lead to reports without
/// end. An event that is posted inside such a handler keeps the kind of report in its mailboxes (``EventQueue/Mark``).
enum SelfReport: Comparable {
  case refusal, undelivered, failure

  init?(_ type: any EventBus.Event.Type) {
    switch type {
    case is EventBus.PostRefused.Type: self = .refusal
    case is EventBus.Undelivered.Type: self = .undelivered
    case is EventBus.HandlerFailure.Type: self = .failure
    default: return nil
    }
  }

  /// Whether the bus may post a report of this kind here.
  ///
  /// - Parameter cause: the `insideReport` of the failure in question: the one to be posted, or the one that no subscriber received and that
  ///   `Undelivered` would report. It counts beside the reports around the present code, because the handler that threw may have
  ///   returned.
  /// - Returns: false if a report of this kind, or of one further down the list, led here.
  func mayBePosted(causedBy cause: SelfReport? = nil) -> Bool {
    guard let last = Self.last(cause, Self.enclosing) else { return true }
    return last < self
  }

  /// The number of asynchronous handlers that run inside a report; nearly always zero, so that a post need not look at
  /// its task's context.
  static let runsUnderWay = Atomic(0)

  /// The kind of report, the last in the list, inside whose handler or post the present code runs; nil if there is none.
  static var enclosing: SelfReport? {
    let ofTask = runsUnderWay.load(ordering: .relaxed) == 0 ? nil : HandlerContext.enclosing?.run?.insideReport
    let record = pubsub_record_of_thread()
    return (0..<pubsub_depth(record)).reduce(ofTask) { report, depth in
      guard let topic = pubsub_frame_at(record, depth).pointee.topic else { return report }
      return last(report, BusCore.store(of: topic)._withUnsafeGuaranteedRef { $0.reportKind })
    }
  }

  private static func last(_ one: SelfReport?, _ other: SelfReport?) -> SelfReport? {
    guard let one, let other else { return one ?? other }
    return max(one, other)
  }
}

extension EventBus {
  /// Whether the present code runs inside a handler of `HandlerFailure`.
  package static var isInsideFailure: Bool { !SelfReport.failure.mayBePosted() }
}
