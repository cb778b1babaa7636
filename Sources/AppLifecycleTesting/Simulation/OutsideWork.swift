internal import CSimulation
import Dispatch
import PubSub

/// Counts the jobs that escape to the global executor from the main queue, so that no simulation takes itself for idle while
/// one of them runs.
///
/// A plain `Task {}` or `Task.detached` in a component leaves the simulation: its job goes to the global executor, whose threads
/// run it at some later time. The runtime offers each such job here first. A job that the main queue queued, or that such a
/// job queued in turn, is counted until it suspends or ends. Whatever such work does to a simulation has then been done
/// before the simulation's time passes on, under any load.
///
/// A job that a simulation's own job queued does not even begin before that simulation has nothing else to do. So it is always
/// found in the same place, however many threads are free.
///
/// All simulations of a process share the count: a job does not tell to which it belongs.
enum OutsideWork {
  /// A job that runs for longer is not waited for any more: it blocks its thread, and may do so for ever.
  ///
  /// A task may have another patience, so that a test of this does not depend on the machine's speed.
  @TaskLocal static var patience: Duration = .seconds(2)

  private struct State {
    var lastID: UInt64 = 0
    /// When the jobs that have not suspended were queued.
    var jobs: [UInt64: ContinuousClock.Instant] = [:]
    var waiters: [UInt64: @Sendable () -> Void] = [:]
    /// What waits for some jobs alone.
    var waitersForSome: [UInt64: (jobs: Set<UInt64>, action: @Sendable () -> Void)] = [:]

    mutating func nextID() -> UInt64 {
      lastID += 1
      return lastID
    }

    var isUnderWay: Bool { !awaited.isEmpty }

    /// The jobs that are waited for.
    var awaited: Set<UInt64> {
      guard !jobs.isEmpty else { return [] }
      let limit = ContinuousClock.now - OutsideWork.patience
      return Set(jobs.lazy.filter { $0.value > limit }.map(\.key))
    }
  }

  private static let state = Guarded(State())
  private static let isCounted = csimulation_offer_global_jobs { OutsideWork.take($0) }

  /// Begins to count, once in a process.
  static func count() { _ = isCounted }

  /// Whether a job runs that is to be waited for.
  static var isUnderWay: Bool { state.withLock { $0.isUnderWay } }

  /// Calls once no job is to be waited for; at once if that is so.
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

  /// Calls once the jobs that run now are over; jobs that begin meanwhile are not waited for.
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
    let (seconds, attoseconds) = patience.components
    let delay = DispatchTimeInterval.milliseconds(Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000) + 1)
    DispatchQueue.global().asyncAfter(deadline: .now() + delay, execute: action)
  }

  /// A job of the global executor that has not begun.
  struct Job: Sendable {
    fileprivate let address: UInt
  }

  /// Runs a job on a thread of the outside world.
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

/// Tells whether the current thread is on the main queue, in the middle of the world, or outside it.
enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  static func mark() { _ = key }

  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}
