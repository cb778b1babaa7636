internal import CSimulation

/// What the main queue has run, other than the visits of simulations.
///
/// A hop to the main actor goes past every task executor, directly to the main queue. A simulation compares the counts
/// before and after a pass through the queue, and so sees whether a hop ran in between. All counts stay 0 if this
/// runtime cannot count.
struct MainQueueJobs {
  private static let isCounted = csimulation_count_main_jobs()
  /// The counted jobs that were visits, or were counted during one.
  @MainActor private static var ofVisits: UInt = 0

  /// Begins to count; only the first call in a process has an effect.
  static func count() { _ = isCounted }

  /// The number of jobs; all simulations share it, because a job does not say to which simulation it belongs.
  private(set) var all: UInt = 0
  /// The number of calls of main-actor functions by tasks of one simulation.
  private(set) var ownCalls: UInt = 0

  /// Makes counts of zero.
  init() {}

  /// Makes the counts at the beginning of a visit.
  @MainActor init(before visitor: SimulationExecutor) {
    guard Self.isCounted else { return }
    // The visit itself is the last job that was counted.
    all = csimulation_main_jobs() &- 1 &- Self.ofVisits
    ownCalls = csimulation_main_actor_calls(Unmanaged.passUnretained(visitor).toOpaque())
  }

  /// Ends the visit.
  @MainActor func endVisit() {
    if Self.isCounted { Self.ofVisits = csimulation_main_jobs() &- all }
  }
}
