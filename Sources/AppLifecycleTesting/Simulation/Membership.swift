internal import CSimulation
import Dispatch
import Scheduling

/// The tasks that belong to simulations.
///
/// A task belongs to a simulation if it prefers its executor, or if a task of the simulation has started it. Tasks of
/// the second kind prefer no executor: a library has started them with `Task {}`, `Task.detached` or a task group. They
/// are known by their identities, which the runtime gives each task once.
enum Membership {
  private struct State {
    /// The simulations, by the addresses of their executors.
    var simulations: [UInt: SimulatedMainActor] = [:]
    /// The simulations of the tasks that prefer no executor, by the tasks' identities.
    var tasks: [UInt64: SimulatedMainActor] = [:]
    /// The main actor's executors of all simulations so far, to which suspended tasks may refer without retaining them.
    var mainActors: [SimulatedMainActor] = []
    /// An identity that every task which is being started has passed: that of the latest visit of a simulation, and at first
    /// that of a task from before the first simulation.
    ///
    /// The runtime counts the identities up.
    var latest = Membership.newIdentity()
    /// The tasks with greater identities that have started outside of the simulations.
    var outsiders: Set<UInt64> = []
  }

  private static let state = Guarded(State())

  /// The simulation to which code of the test belongs for a while; the tasks that it starts inherit it.
  @TaskLocal static var bound: SimulatedMainActor?

  /// Adds a simulation.
  static func add(_ executor: SimulationExecutor) {
    let key = address(of: executor)
    state.withLock { state in
      state.simulations[key] = executor.mainActor
      state.mainActors.append(executor.mainActor)
    }
  }

  /// Removes a simulation and its tasks.
  static func remove(_ executor: SimulationExecutor, tasks: [UInt64]) {
    let key = address(of: executor)
    state.withLock { state in
      state.simulations[key] = nil
      for task in tasks { state.tasks[task] = nil }
    }
  }

  /// Adds a task to a simulation.
  static func add(task: UInt64, to simulation: SimulatedMainActor) { state.withLock { $0.tasks[task] = simulation } }

  /// Returns the simulation of a task that prefers no executor.
  static func simulation(of task: UInt64) -> SimulatedMainActor? { state.withLock { $0.tasks[task] } }

  /// The simulation of the present task; nil outside of tasks and of simulations.
  static var current: SimulatedMainActor? {
    let executor = UInt(bitPattern: csimulation_preferred_executor())
    let task = csimulation_current_task()
    return state.withLock { $0.simulations[executor] ?? $0.tasks[task] } ?? bound ?? simulationOfImmediateTask(task)
  }

  /// Adopts the present task if a task of a simulation has just started it with `Task.immediate`.
  ///
  /// Such a task runs before any executor sees it. During a visit no other unknown task is new.
  private static func simulationOfImmediateTask(_ task: UInt64) -> SimulatedMainActor? {
    guard let visit = SimulationExecutor.visitOfThread, isNew(task), !SimulationExecutor.isExternal else { return nil }
    visit.adopt(task)
    return visit.mainActor
  }

  /// Returns whether the present task has just made a task, and is about to start it.
  ///
  /// A job that wakes a suspended task enqueues it, too. Such a task is older than the latest visit of a simulation, or it has
  /// been noted when it started, or it is known to belong to one.
  static func isNew(_ task: UInt64) -> Bool {
    guard csimulation_current_task() != 0 else { return false }
    return state.withLock { task > $0.latest && $0.tasks[task] == nil && !$0.outsiders.contains(task) }
  }

  /// Notes a task that runs outside of the simulations.
  static func noteOutsider(_ task: UInt64) {
    state.withLock { state in
      guard task > state.latest else { return }
      // Without a simulation no task that is being started belongs to one.
      if state.simulations.isEmpty { state.latest = task } else { state.outsiders.insert(task) }
    }
  }

  /// Notes that a visit of a simulation begins, in the task that was made when it was scheduled.
  static func noteVisit(by task: UInt64) {
    state.withLock { state in
      state.latest = max(state.latest, task)
      if !state.outsiders.isEmpty { state.outsiders = state.outsiders.filter { $0 > state.latest } }
    }
  }

  /// Returns the identity of a task that is made now.
  private static func newIdentity() -> UInt64 {
    let task = Task.detached {}
    return withExtendedLifetime(task) { csimulation_task(unsafeBitCast(task, to: UnsafeMutableRawPointer.self)) }
  }

  private static func address(of executor: SimulationExecutor) -> UInt {
    UInt(bitPattern: Unmanaged.passUnretained(executor).toOpaque())
  }
}

/// The main actor's executor for the tasks of one simulation, which puts their jobs into the queue of the simulation.
///
/// The runtime asks for the main actor's executor whenever code enters the main actor. A task of a simulation gets this
/// one, so that the simulation sees the job. Without it, the job would go to the main queue, between jobs of other
/// tests.
///
/// Suspended tasks refer to it without retaining it, also when the simulation is gone. So ``Membership`` retains it for
/// ever.
final class SimulatedMainActor: SerialExecutor {
  private struct Simulation {
    weak var executor: SimulationExecutor?
  }

  private let simulation = Guarded(Simulation())

  private static let isChosen = csimulation_choose_main_executor {
    guard let chosen = Membership.current else { return csimulation_executor(object: nil, witness: nil) }
    return unsafeBitCast(chosen.asUnownedSerialExecutor(), to: csimulation_executor.self)
  }

  /// Begins to choose the executors; only the first call in a process has an effect.
  static func choose() { _ = isChosen }

  /// The executor of the simulation; nil if it is gone.
  var executor: SimulationExecutor? {
    get { simulation.withLock { $0.executor } }
    set { simulation.withLock { $0.executor = newValue } }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if let executor {
      let task = csimulation_task(unsafeBitCast(job, to: UnsafeMutableRawPointer.self))
      let isNew = Membership.isNew(task)
      guard isNew, SimulationExecutor.isExternal else {
        if isNew { executor.adopt(task) }
        return executor.enqueue(job, for: .mainActor)
      }
      Membership.noteOutsider(task)
    }
    // External work has started the task, or the simulation is gone, and what it left goes on as without one.
    DispatchQueue.main.async { job.runSynchronously(on: MainActor.sharedUnownedExecutor) }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Checks that code that needs the main actor runs on the main queue.
  func checkIsolated() { dispatchPrecondition(condition: .onQueue(.main)) }
}
