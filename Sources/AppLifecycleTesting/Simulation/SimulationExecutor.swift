import AppLifecycle
internal import CSimulation
import PubSub
import Scheduling

/// An executor that runs the jobs of its tasks on the main queue, one at a time, in the order in which they became
/// ready or in a seeded order.
///
/// Tasks that prefer it belong to the simulation, and so do all tasks that these start, in a library, too: `Task {}`,
/// `Task.detached` and child tasks, on the main actor, on default actors or on none. All of them run here, also when
/// continuations, streams and a ``ManualClock`` wake them.
///
/// Outside the simulation run the tasks of the test itself, actors with executors of their own, threads and queues. So
/// do answers of the real world, which you declare with ``external(_:)``. A task outside that sleeps on the simulation's
/// clock is reported as ``EscapedWork``, and so is undeclared code outside that wakes a task inside. Before the
/// simulation counts as idle, it waits for the tasks that the test's own code has started on the global executor. So
/// these are found in every run. It does not wait for threads and queues.
///
/// A simulation differs from production in three ways. Everything in it is serial. `MainActor.assumeIsolated` succeeds
/// in its nonisolated code. And its tasks are not ordered with the main queue's other jobs. Code that blocks a thread
/// until something happens in the simulation causes a deadlock.
///
/// Any thread may use it. A job costs about 0.6 µs.
public final class SimulationExecutor: TaskExecutor {
  /// The order in which jobs that are ready at the same time run.
  public enum Order: Sendable, Hashable {
    /// The jobs run first in, first out.
    case fifo
    /// The jobs run in a random order, mixed with the jobs of the main queue; equal seeds give equal orders.
    case seeded(UInt64)
  }

  /// The order in which jobs that are ready at the same time run.
  public let order: Order

  /// The number of passes through the main queue without work after which the simulation counts as idle.
  ///
  /// The simulation sees its own jobs. The main queue alone runs those of tasks that the test itself has started on the
  /// main actor, and those of all main-actor functions if the runtime has no hook for them. A simulation waits for this
  /// number of them.
  private static let passesUntilQuiet = 8

  /// The main actor's executor for the tasks of this simulation.
  let mainActor = SimulatedMainActor()

  private let state: Guarded<State>

  /// The simulation that visits the main queue now; only code on the main queue may read it.
  nonisolated(unsafe) private static var visit: SimulationExecutor?

  /// The simulation of which this thread runs a job.
  static var visitOfThread: SimulationExecutor? { MainQueue.isCurrent ? visit : nil }

  /// Whether the present task does declared work of the real world, or was started by it.
  static var isExternal: Bool { simulationOfExternalCall != nil }

  /// The simulation of which the present task does such work.
  @TaskLocal private static var simulationOfExternalCall: ObjectIdentifier?

  /// Makes the executor of a new simulation.
  ///
  /// - Parameter order: the order in which jobs that are ready at the same time run.
  public init(order: Order = .fifo) {
    self.order = order
    var state = State()
    if case .seeded(let seed) = order { state.random = SplitMix64(seed: seed) }
    self.state = Guarded(state)
    MainQueue.mark()
    mainActor.executor = self
    // The first call makes a task, which the runtime must not offer yet.
    Membership.add(self)
    OutsideWork.count()
    SimulatedMainActor.choose()
  }

  deinit {
    mainActor.executor = nil
    Membership.remove(self, tasks: state.withLock { $0.members })
  }

  /// The number of undeclared wake-ups from threads outside the simulation; if it is 0, the order is repeatable.
  ///
  /// Wake-ups while the simulation is driven are also reported as ``EscapedWork``. Others may come from the test
  /// itself.
  package var foreignWakeUps: Int { state.withLock { $0.foreignWakeUps } }

  /// Enqueues a job of a task that prefers this executor.
  ///
  /// The concurrency runtime calls this method.
  ///
  /// - Parameter job: the job.
  public func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job), for: .other) }

  /// Enqueues a job of a task that belongs to this simulation.
  func enqueue(_ job: UnownedJob, for actor: JobQueue.Actor) {
    let isForeign = !MainQueue.isCurrent
    // A task of a simulation that runs on another thread has itself been woken by that thread.
    let waker: Escape? =
      isForeign && csimulation_current_task() != 0 && Membership.current == nil ? .wakeUpByTask(Origin.current) : nil
    let schedules = state.withLock { state in
      state.ready.append(job, for: actor)
      if isForeign, state.externalCalls.isEmpty {
        state.foreignWakeUps += 1
        if state.isDriven { state.note(waker ?? .wakeUpByThread) }
      }
      return state.takeVisit()
    }
    if schedules { scheduleVisit() }
  }
}

// MARK: - Work that escapes

extension SimulationExecutor {
  /// Whether the present task belongs to this simulation.
  var isInside: Bool { Membership.current === mainActor }

  /// Adds a task that a job of this simulation has started.
  func adopt(_ task: UInt64) {
    state.withLock { $0.members.append(task) }
    Membership.add(task: task, to: mainActor)
  }

  /// Notes the sleep of the present task on the simulation's clock, if it does not belong there.
  func noteSleep(at line: EventBus.Subscriber?) {
    if !isInside {
      note(.sleep(at: line, in: Origin.current))
    } else if !MainQueue.isCurrent, !Self.isExternal {
      // A thread has woken the task on an actor, whose jobs do not say to which simulation they belong.
      note(.wakeUpByThread)
    }
  }

  /// Notes escaped work for the next check, once for each place.
  func note(_ escape: Escape) { state.withLock { $0.note(escape) } }

  /// Holds a job of the global executor until this simulation has nothing else to do.
  func hold(_ job: OutsideWork.Job) { state.withLock { $0.held.append(job) } }

  /// Throws if work has escaped since the last check.
  func checkForEscapes() throws(EscapedWork) {
    try Self.check(
      state.withLock { state in
        defer { state.escapes = [] }
        return state.escapes
      })
  }

  /// Throws if work has ever escaped.
  func checkForAllEscapes() throws(EscapedWork) { try Self.check(state.withLock { Array($0.knownEscapes) }) }

  private static func check(_ escapes: [ContractViolation]) throws(EscapedWork) {
    guard !escapes.isEmpty else { return }
    throw EscapedWork(violations: escapes.sorted { ($0.place, $0.message) < ($1.place, $1.message) })
  }

  /// Runs code that drives the simulation: during `body`, wake-ups from outside count as escaped work.
  func driven<Success, Failure: Error>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Success
  ) async throws(Failure) -> Success {
    let isFirst = state.withLock { state in
      state.drives += 1
      return state.drives == 1
    }
    defer { state.withLock { $0.drives -= 1 } }
    if isFirst { await awaitOwnWork() }
    return try await body()
  }

  /// Stops the simulation until jobs that the test itself started have ended.
  ///
  /// When a test reads a property of an actor, the test may continue while the thread of that read still holds the
  /// actor. A simulated task that needs the actor at that time would be woken by that thread, from outside.
  private func awaitOwnWork(isolation: isolated (any Actor)? = #isolation) async {
    guard OutsideWork.isUnderWay, !isInside else { return }
    let mayWait = state.withLock { state in
      // The simulation waits for declared external work in another way.
      guard state.externalCalls.isEmpty else { return false }
      state.holds += 1
      return true
    }
    guard mayWait else { return }
    await withUnsafeContinuation { (continuation: Continuation) in
      // Resume on the main queue, like everything that waits for the simulation.
      OutsideWork.whenPresentJobsAreOver { Task.detached { @MainActor in continuation.resume() } }
    }
    let schedules = state.withLock { state in
      state.holds -= 1
      guard state.holds == 0, state.visitIsDue else { return false }
      state.visitIsDue = false
      return true
    }
    if schedules { scheduleVisit() }
  }
}

// MARK: - Waiting until idle

extension SimulationExecutor {
  /// Waits until no work is left that can run without time passing, and no external work is under way.
  public func settle() async {
    if state.withLock({ $0.drives == 0 }) { await awaitOwnWork() }
    await withUnsafeContinuation { continuation in
      let schedules = state.withLock { state in
        state.quietWaiters.append(continuation)
        state.quietPasses = 0
        return state.takeVisit()
      }
      if schedules { scheduleVisit() }
    }
  }
}

// MARK: - External work

extension SimulationExecutor {
  /// Runs work of the outside world: real input and output, a real sleep.
  ///
  /// A program calls `external` of its application, which calls this method in a simulation. The work begins at once. Virtual time stands still until it ends. Tasks that it starts run outside the simulation. When the simulation is idle, the callers
  /// continue in the order in which their calls began, however long each took. So the record does not depend on the
  /// machine.
  ///
  /// - Parameter body: the work. It must not wait for anything in the simulation, and calls this method only in its own task
  ///   or a child task. It may call what any thread may call, such as `Application.send(_:cause:)`; such calls inside two
  ///   works at once have the order of the threads.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws, in the same order.
  public func external<Success, Failure: Error>(
    _ body: () async throws(Failure) -> Success
  ) async throws(Failure) -> Success {
    let isNested = Self.simulationOfExternalCall == ObjectIdentifier(self)
    let id = state.withLock { state in
      state.lastExternalCall += 1
      state.externalCalls.append(ExternalCall(id: state.lastExternalCall))
      return state.lastExternalCall
    }
    let result: Result<Success, Failure>
    result = await Self.$simulationOfExternalCall.withValue(ObjectIdentifier(self)) {
      do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
    }
    if isNested {
      // The caller is outside the simulation, and has no place in its order: the outer call may wait for it.
      let schedules = state.withLock { state in
        state.externalCalls.removeAll { $0.id == id }
        return state.takeVisit()
      }
      if schedules { scheduleVisit() }
      return try result.get()
    }
    await withUnsafeContinuation { continuation in
      let schedules = state.withLock { state in
        for index in state.externalCalls.indices where state.externalCalls[index].id == id {
          state.externalCalls[index].whatFollows = continuation
        }
        return state.takeVisit()
      }
      if schedules { scheduleVisit() }
    }
    return try result.get()
  }
}

// MARK: - Visits of the main queue

extension SimulationExecutor {
  private typealias Continuation = UnsafeContinuation<Void, Never>

  private struct ExternalCall {
    var id: UInt64
    /// The caller's continuation; set when the work is done.
    var whatFollows: Continuation?
  }

  private struct State {
    var ready = JobQueue()
    /// Whether a visit of the main queue is under way or scheduled.
    var visitIsScheduled = false
    var random: SplitMix64?
    var foreignWakeUps = 0
    /// The number of calls that stop the simulation.
    var holds = 0
    /// Whether a visit came during such a stop, and must be repeated afterward.
    var visitIsDue = false
    /// The number of consecutive passes without work.
    var quietPasses = 0
    var quietWaiters: [Continuation] = []
    /// The number of calls that drive the simulation.
    var drives = 0
    /// The escaped work that has not been thrown.
    var escapes: [ContractViolation] = []
    /// All escaped work, thrown or not.
    var knownEscapes: Set<ContractViolation> = []
    /// The jobs of other tasks that have not started, because jobs of this simulation have woken these tasks.
    var held: [OutsideWork.Job] = []
    /// The identities of the tasks that jobs of this simulation have started.
    var members: [UInt64] = []
    /// The external calls, in the order in which they began.
    var externalCalls: [ExternalCall] = []
    var lastExternalCall: UInt64 = 0

    var isDriven: Bool { drives > 0 || !quietWaiters.isEmpty }

    mutating func note(_ escape: Escape) {
      let violation = escape.violation
      if knownEscapes.insert(violation).inserted { escapes.append(violation) }
    }

    /// Returns whether the caller must schedule a visit.
    mutating func takeVisit() -> Bool {
      defer { visitIsScheduled = true }
      return !visitIsScheduled
    }

    mutating func nextJob() -> UnownedJob? {
      if random != nil { ready.bringForward(using: &random!) }
      return ready.popFirst()
    }

    /// Returns the held jobs that must run now: nothing else is left to run, or declared external work may need them.
    mutating func release(before next: Next) -> [OutsideWork.Job] {
      if case .passAgain = next, externalCalls.isEmpty { return [] }
      defer { held = [] }
      return held
    }

    /// Returns what must happen after a visit that ran `jobs` jobs.
    mutating func next(afterRunning jobs: Int) -> Next {
      // Another thread may have enqueued a job since.
      guard ready.isEmpty else { return .passAgain }
      let isAwaited = externalCalls.isEmpty ? !quietWaiters.isEmpty : externalCalls[0].whatFollows != nil
      guard isAwaited else {
        // No visit is needed now: the end of an external call, a waiter or a job will schedule one.
        (quietPasses, visitIsScheduled) = (0, false)
        return .rest
      }
      quietPasses = jobs > 0 ? 0 : quietPasses + 1
      guard quietPasses > SimulationExecutor.passesUntilQuiet else { return .passAgain }
      quietPasses = 0
      // The simulation waits for declared external work in another way.
      if externalCalls.isEmpty, !held.isEmpty || OutsideWork.isUnderWay { return .awaitOutsideWork }
      if let call = externalCalls.first, let whatFollows = call.whatFollows {
        externalCalls.removeFirst()
        return .goOn(whatFollows)
      }
      return .resume(quietWaiters.removeFirst())
    }
  }

  private enum Next {
    case rest
    case passAgain
    case awaitOutsideWork
    case resume(Continuation)
    /// Lets the caller of the first external call go on.
    case goOn(Continuation)
  }

  /// Schedules a visit by a new main-actor task, which goes directly to the main queue, first in, first out, and not to
  /// the queue of the simulation whose task makes it.
  private func scheduleVisit() {
    csimulation_pause_choice(true)
    defer { csimulation_pause_choice(false) }
    Task.detached { @MainActor in self.visit() }
  }

  /// Runs all ready jobs, and the jobs that they make ready.
  ///
  /// Then, if a task waits for the simulation to be idle, it passes through the main queue once more. A hop to the main
  /// actor that was under way runs before that pass.
  @MainActor private func visit() {
    let isHeld = state.withLock { state in
      state.visitIsDue = state.holds > 0
      return state.visitIsDue
    }
    if isHeld { return }
    var jobs = 0
    Membership.noteVisit(by: csimulation_current_task())
    Self.visit = self
    while let job = state.withLock({ $0.nextJob() }) {
      // The job runs on the main actor, and the runtime is told so; therefore it reaches the main actor without a hop.
      job.runSynchronously(isolatedTo: mainActor.asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
      jobs += 1
    }
    Self.visit = nil
    let (next, released) = state.withLock { state in
      let next = state.next(afterRunning: jobs)
      return (next, state.release(before: next))
    }
    for job in released { OutsideWork.begin(job) }
    switch next {
    case .rest: return
    case .passAgain: break
    case .awaitOutsideWork: return OutsideWork.whenOver { self.scheduleVisit() }
    case .resume(let continuation): continuation.resume()
    case .goOn(let continuation):
      // The caller may run on an actor, whose job belongs to the simulation only during a visit.
      Self.visit = self
      continuation.resume()
      Self.visit = nil
    }
    scheduleVisit()
  }
}
