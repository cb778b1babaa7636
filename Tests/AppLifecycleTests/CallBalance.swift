import AppLifecycle

/// Holds the trace events of an application to their rules: what ends has begun, once, and transitions do not interleave.
struct CallBalance {
  private(set) var open: Set<TracedCall.ID> = []
  private(set) var faults: [String] = []
  private(set) var begun = 0
  /// The cause of the transition that has begun and has not ended.
  private var transition: LifecycleCause?
  /// The steps of entries that are no calls.
  private static let steps: Set = ["use", "invalidate", "run"]

  mutating func take(_ event: TraceEvent) {
    switch event {
    case .callBegan(let call):
      begun += 1
      if !open.insert(call.id).inserted { faults.append("call \(call.id) begins twice") }
    case .callEnded(let entry, let id?):
      if open.remove(id) == nil { faults.append("\(entry) ends and had not begun") }
    case .callEnded(let entry, nil):
      let isCall = !Self.steps.contains(entry.step) && entry.outcome != .cutShort
      if isCall, !entry.step.hasPrefix("run(while") { faults.append("\(entry) ends without a beginning") }
    case .recorded(let record) where record.kind == .state && record.state == .notRunning: open = []
    case .transitionBegan(_, let cause):
      if let transition { faults.append("\(cause) begins within \(transition)") }
      transition = cause
    case .transitionEnded:
      if transition == nil { faults.append("a transition ends that had not begun") }
      transition = nil
    default: break
    }
  }
}
