extension ResourceGraph {
  /// A resource in the graph.
  struct Node {
    /// The phase of the resource, or a narrower phase of a dependency, which the resource cannot outlast.
    let phase: LifecyclePhase
    let dependencies: [Int]
    /// The number of failures in a row after which another attempt follows; nil for no limit.
    let maximumRetries: Int?
    /// Whether this is a body, which ends as soon as the handlers of its phase have ended, before any release.
    let isBody: Bool
    /// Whether it counts as held only after it has become ready.
    let awaitsReadiness: Bool
    /// Whether it has become ready since it was acquired, or does not have to.
    var isReady = false
    /// Whether it is a body that has not had its first run, which it may also have while its phase closes.
    var owesRun: Bool
    var dependents: [Int] = []
    var heldDependencies = 0
    /// The number of busy dependents that have not let go; the resource is not released while there are any.
    var busyDependents = 0
    var status = Status.idle
    /// The position, in `dependencies`, of the one for which it waits; nil while it waits for none.
    var missing: Int?
    /// The number of failures in a row: failed acquires, and breaks soon after an acquire.
    var failures = 0
    var isAcquireCancelled = false
    /// Whether its operation was reported as late, so that no tear-down waits for it.
    var isLate = false
    /// Whether its dependencies do not wait for it: it is a late body, or its late operation was given up.
    var hasLetGo = false
    /// Whether a dependency was released after its acquire was given up, so that its handle must be released.
    var isStale = false
    /// Whether it broke while it was held, and must be released and acquired again.
    var isBroken = false
    /// Whether it is no longer managed, and must be released and forgotten.
    var isRemoved = false
    /// The number of its dependencies that are leaving; see ``isLeaving``.
    var leavingDependencies = 0

    /// Whether its dependents may be acquired.
    var isUsable: Bool { status == .held && isReady }

    /// Whether it must be released although its phase is open.
    var isLeaving: Bool { isBroken || isStale || isRemoved || leavingDependencies > 0 }
  }
  /// The status of a resource in the graph; what it waits for is ``Node/missing``.
  enum Status: Hashable {
    case idle, acquiring, held, releasing
    case retrying(failures: Int)
    case failed(failures: Int)

    /// Whether a resource with this status is held, being acquired or being released.
    var isBusy: Bool {
      switch self {
      case .acquiring, .held, .releasing: true
      case .idle, .retrying, .failed: false
      }
    }
  }
}
