import AppLifecycle
internal import CSimulation
import Dispatch
import Scheduling

/// Gives each job for the global executor to the simulation to which its task belongs, and counts the other jobs, so
/// that no simulation counts as idle while one of them runs.
///
/// The runtime offers each such job to this type first. A job of a task that a simulation's own task has started goes to
/// that simulation. So a simulation runs what its libraries start.
///
/// Of the others, a job that code of a test on the main queue has started, or that such a job has started in turn, is
/// counted until it suspends or ends. So all effects of such work on a simulation happen before the simulation's clock
/// advances, under any load. All simulations of a process share the count, because such a job does not say to which
/// simulation it belongs.
///
/// A task of the test that a simulation's own job wakes is held until that simulation has nothing else to do. So it
/// always continues at the same point of the simulation, however many threads are free.
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
  private static let isCounted = csimulation_offer_global_jobs { OutsideWork.take($0, of: $1) }

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

  private static func take(_ address: UnsafeMutableRawPointer?, of task: UInt64) -> Bool {
    guard let address else { return false }
    let unowned = unsafeBitCast(address, to: UnownedJob.self)
    if let executor = Membership.simulation(of: task)?.executor {
      executor.enqueue(unowned, for: .other)
      return true
    }
    let visit = SimulationExecutor.visitOfThread
    if Membership.isNew(task), let executor = Membership.current?.executor ?? visit {
      guard SimulationExecutor.isExternal else {
        executor.adopt(task)
        executor.enqueue(unowned, for: .other)
        return true
      }
      Membership.noteOutsider(task)
      return false
    }
    Membership.noteOutsider(task)
    let job = Job(address: UInt(bitPattern: address))
    switch visit {
    // An actor's job has no task of its own: it belongs to the code that gives the actor work.
    case let visit? where task == 0: visit.enqueue(unowned, for: .other)
    case let visit?: visit.hold(job)
    case nil where csimulation_is_running() || MainQueue.isCurrent: begin(job)
    case nil: return false
    }
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
