internal import CSimulation
import Dispatch
import Scheduling

/// Counts the jobs that escape from a simulation to the global executor, so that no simulation counts as idle while one
/// of them runs.
///
/// A plain `Task {}` or `Task.detached` in a component leaves the simulation: its job goes to the global executor,
/// whose threads run it at some later time. The runtime offers each such job to this type first. A job that code on the
/// main queue started, or that such a job started in turn, is counted until it suspends or ends. So all effects of such
/// work on a simulation happen before the simulation's clock advances, under any load.
///
/// A job that a simulation's own job started is held until that simulation has nothing else to do. So it always runs at
/// the same point of the simulation, however many threads are free.
///
/// All simulations of a process share the count, because a job does not say to which simulation it belongs.
enum OutsideWork {
  /// The time after which a simulation no longer waits for a job: such a job blocks its thread, perhaps forever.
  ///
  /// It is task-local, so that a test of this time-out does not depend on the machine's speed.
  @TaskLocal static var patience: Duration = .seconds(2)

  private struct State {
    var lastID: UInt64 = 0
    /// The start times of the jobs that have not suspended or ended.
    var jobs: [UInt64: ContinuousClock.Instant] = [:]
    var waiters: [UInt64: @Sendable () -> Void] = [:]
    /// The actions that wait for certain jobs only.
    var waitersForSome: [UInt64: (jobs: Set<UInt64>, action: @Sendable () -> Void)] = [:]

    mutating func nextID() -> UInt64 {
      lastID += 1
      return lastID
    }

    var isUnderWay: Bool { !awaited.isEmpty }

    /// The jobs for which simulations wait.
    var awaited: Set<UInt64> {
      guard !jobs.isEmpty else { return [] }
      let limit = ContinuousClock.now - OutsideWork.patience
      return Set(jobs.lazy.filter { $0.value > limit }.map(\.key))
    }
  }

  private static let state = Guarded(State())
  private static let isCounted = csimulation_offer_global_jobs { OutsideWork.take($0) }

  /// Begins to count; only the first call in a process has an effect.
  static func count() { _ = isCounted }

  /// Whether a job runs for which simulations wait.
  static var isUnderWay: Bool { state.withLock { $0.isUnderWay } }

  /// Calls the action when no job runs for which simulations wait; immediately if none runs now.
  static func whenOver(_ action: @escaping @Sendable () -> Void) {
    let id = state.withLock { state -> UInt64? in
      guard state.isUnderWay else { return nil }
      let id = state.nextID()
      state.waiters[id] = action
      return id
    }
    guard let id else { return action() }
    afterPatience { state.withLock { $0.waiters.removeValue(forKey: id) }?() }
  }

  /// Calls the action when the jobs that run now have ended; jobs that begin later do not count.
  static func whenPresentJobsAreOver(_ action: @escaping @Sendable () -> Void) {
    let id = state.withLock { state -> UInt64? in
      let jobs = state.awaited
      guard !jobs.isEmpty else { return nil }
      let id = state.nextID()
      state.waitersForSome[id] = (jobs, action)
      return id
    }
    guard let id else { return action() }
    afterPatience { state.withLock { $0.waitersForSome.removeValue(forKey: id) }?.action() }
  }

  private static func afterPatience(_ action: @escaping @Sendable () -> Void) {
    let delay = DispatchTimeInterval.nanoseconds(Int(patience.nanoseconds))
    DispatchQueue.global().asyncAfter(deadline: .now() + delay, execute: action)
  }

  /// A job of the global executor that has not started.
  struct Job: Sendable {
    fileprivate let address: UInt
  }

  /// Runs a job on a thread outside the simulation.
  static func begin(_ job: Job) {
    let id = state.withLock { state in
      let id = state.nextID()
      state.jobs[id] = ContinuousClock.now
      return id
    }
    DispatchQueue.global().async {
      csimulation_run(UnsafeMutableRawPointer(bitPattern: job.address))
      didRun(id)
    }
  }

  private static func take(_ job: UnsafeMutableRawPointer?) -> Bool {
    let job = Job(address: UInt(bitPattern: job))
    if csimulation_is_running() {
      begin(job)
      return true
    }
    guard MainQueue.isCurrent else { return false }
    let world = MainActor.assumeIsolated { SimulationExecutor.running }
    if let world { world.hold(job) } else { begin(job) }
    return true
  }

  private static func didRun(_ id: UInt64) {
    let waiters = state.withLock { state -> [@Sendable () -> Void] in
      state.jobs[id] = nil
      var actions: [@Sendable () -> Void] = []
      for waiter in state.waitersForSome.keys {
        state.waitersForSome[waiter]?.jobs.remove(id)
        guard state.waitersForSome[waiter]?.jobs.isEmpty == true else { continue }
        if let over = state.waitersForSome.removeValue(forKey: waiter) { actions.append(over.action) }
      }
      guard !state.waiters.isEmpty, !state.isUnderWay else { return actions }
      defer { state.waiters = [:] }
      return actions + state.waiters.values
    }
    for waiter in waiters { waiter() }
  }
}

/// Tells whether the current thread runs the main queue, on which every simulation runs.
enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  static func mark() { _ = key }

  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}
