import PubSub
import Scheduling

/// An executor that runs the jobs of its tasks on the main queue, one at a time, in the order in which they became
/// ready or in a seeded order.
///
/// Tasks use it by task executor preference: child tasks, nonisolated functions, default actors, and wake-ups from
/// continuations, streams and a ``ManualClock`` all run here. Code that is isolated to the main actor stays on the main
/// actor, which uses the same queue and is therefore also serial. `Task {}`, `Task.detached` and actors with executors
/// of their own run outside the simulation; so do answers of the real world, which you declare with ``external(_:)``.
/// The application's `task` starts a task inside the simulation. Undeclared work from outside is reported as
/// ``EscapedWork``.
///
/// Before the simulation counts as idle, it waits for jobs of plain tasks on the global executor. So a plain task that
/// sleeps on the simulation's clock is found in every run. It does not wait for threads and queues of a component.
///
/// A simulation differs from production in three ways. Everything in it is serial. `MainActor.assumeIsolated` succeeds
/// in its nonisolated code. And awaiting the main actor may let other work run where production would not suspend. Code
/// that blocks a thread until something happens in the simulation causes a deadlock.
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
  /// A hop to the main actor goes directly to the main queue, and runs before the next pass. ``MainQueueJobs`` counts it
  /// as work. After a hop from an actor, each call between asynchronous main-actor functions takes two hops, there and
  /// back: its task prefers this executor, and the main queue runs it without a task executor. If the runtime cannot
  /// count the hops, a simulation waits for no more of them than this number.
  private static let passesUntilQuiet = 8

  /// The number of passes without known work of this simulation after which it counts as idle, although the main queue
  /// runs other jobs.
  ///
  /// These jobs may belong to code that keeps the main actor busy forever. Or they are the hops of an error or a value
  /// on its way back through main-actor functions, one for each. A call of such a function is known work.
  private static let passesDespiteOthers = 1_000

  private let state: Guarded<State>

  /// The simulation whose job the main queue runs now.
  @MainActor static var running: SimulationExecutor?

  /// Makes the executor of a new simulation.
  ///
  /// - Parameter order: the order in which jobs that are ready at the same time run.
  public init(order: Order = .fifo) {
    self.order = order
    var state = State()
    if case .seeded(let seed) = order { state.random = SplitMix64(seed: seed) }
    self.state = Guarded(state)
    MainQueue.mark()
    OutsideWork.count()
    MainQueueJobs.count()
  }

  /// The number of undeclared wake-ups from threads outside the simulation; if it is 0, the order is repeatable.
  ///
  /// Wake-ups while the simulation is driven are also reported as ``EscapedWork``. Others may come from the test
  /// itself.
  public var foreignWakeUps: Int { state.withLock { $0.foreignWakeUps } }

  /// The number of jobs that were enqueued so far.
  var jobsEnqueued: Int { state.withLock { $0.jobsEnqueued } }

  /// Enqueues a job of a task that prefers this executor.
  ///
  /// The concurrency runtime calls this method.
  ///
  /// - Parameter job: the job.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isForeign = !MainQueue.isCurrent
    let (waiters, schedules) = state.withLock { state in
      state.ready.append(job)
      state.jobsEnqueued += 1
      if isForeign, state.externalCalls.isEmpty {
        state.foreignWakeUps += 1
        if state.isDriven { state.note(.wakeUp(by: Origin.current)) }
      }
      let waiters = state.workWaiters
      state.workWaiters = []
      return (waiters, state.takeVisit())
    }
    if schedules { scheduleVisit() }
    for waiter in waiters { waiter.resume() }
  }
}

// MARK: - Work that escapes

extension SimulationExecutor {
  /// Whether the present task prefers this executor.
  var isPreferred: Bool { withUnsafeCurrentTask { $0?.unownedTaskExecutor == asUnownedTaskExecutor() } }

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
    guard OutsideWork.isUnderWay, !isPreferred else { return }
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
        state.restartCount()
        return state.takeVisit()
      }
      if schedules { scheduleVisit() }
    }
  }

  /// Waits until more jobs have been enqueued than an earlier count.
  func nextWork(after count: Int) async {
    await withUnsafeContinuation { continuation in
      let hasCome = state.withLock { state in
        if state.jobsEnqueued == count { state.workWaiters.append(continuation) }
        return state.jobsEnqueued != count
      }
      if hasCome { continuation.resume() }
    }
  }
}

// MARK: - External work

extension SimulationExecutor {
  /// Runs work of the outside world: real input and output, a real sleep.
  ///
  /// The work begins at once. Virtual time stands still until it ends. When the simulation is idle, the callers
  /// continue in the order in which their calls began, however long each took. So the record does not depend on the
  /// machine.
  ///
  /// - Parameter body: the work. It must not wait for anything in the simulation; it may call what any thread may call,
  ///   such as `Application.send(_:cause:)`.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws, in the same order.
  public func external<Success, Failure: Error>(
    _ body: () async throws(Failure) -> Success
  ) async throws(Failure) -> Success {
    let id = state.withLock { state in
      state.lastExternalCall += 1
      state.externalCalls.append(ExternalCall(id: state.lastExternalCall))
      return state.lastExternalCall
    }
    let result: Result<Success, Failure>
    do throws(Failure) { result = .success(try await body()) } catch { result = .failure(error) }
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
    var jobsEnqueued = 0
    var foreignWakeUps = 0
    /// The number of calls that stop the simulation.
    var holds = 0
    /// Whether a visit came during such a stop, and must be repeated afterward.
    var visitIsDue = false
    /// The number of consecutive passes without work.
    var quietPasses = 0
    /// The number of consecutive passes without known work of this simulation.
    var passesWithoutKnownWork = 0
    /// The counts at the last visit.
    var mainQueue = MainQueueJobs()
    var quietWaiters: [Continuation] = []
    var workWaiters: [Continuation] = []
    /// The number of calls that drive the simulation.
    var drives = 0
    /// The escaped work that has not been thrown.
    var escapes: [ContractViolation] = []
    /// All escaped work, thrown or not.
    var knownEscapes: Set<ContractViolation> = []
    /// The escaped jobs that have not started.
    var held: [OutsideWork.Job] = []
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

    /// Begins to count the passes without work anew.
    mutating func restartCount() { (quietPasses, passesWithoutKnownWork) = (0, 0) }

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

    /// Returns what must happen after a visit that ran `jobs` jobs; `mainQueue` has the counts when it began.
    mutating func next(afterRunning jobs: Int, _ mainQueue: MainQueueJobs) -> Next {
      let isAtWork = jobs > 0 || mainQueue.ownCalls != self.mainQueue.ownCalls
      let isQuiet = !isAtWork && mainQueue.all == self.mainQueue.all
      self.mainQueue = mainQueue
      if !ready.isEmpty {
        restartCount()
        return .passAgain
      }
      let isAwaited = externalCalls.isEmpty ? !quietWaiters.isEmpty : externalCalls[0].whatFollows != nil
      guard isAwaited else {
        // No visit is needed now: the end of an external call, a waiter or a job will schedule one.
        restartCount()
        visitIsScheduled = false
        return .rest
      }
      quietPasses = isQuiet ? quietPasses + 1 : 0
      passesWithoutKnownWork = isAtWork ? 0 : passesWithoutKnownWork + 1
      guard
        quietPasses > SimulationExecutor.passesUntilQuiet
          || passesWithoutKnownWork > SimulationExecutor.passesDespiteOthers
      else { return .passAgain }
      restartCount()
      // The simulation waits for declared external work in another way.
      if externalCalls.isEmpty, !held.isEmpty || OutsideWork.isUnderWay { return .awaitOutsideWork }
      if let call = externalCalls.first, let whatFollows = call.whatFollows {
        externalCalls.removeFirst()
        return .resume(whatFollows)
      }
      return .resume(quietWaiters.removeFirst())
    }
  }

  private enum Next {
    case rest
    case passAgain
    case awaitOutsideWork
    case resume(Continuation)
  }

  /// Schedules a visit by a new main-actor task, which goes directly to the main queue, first in, first out.
  private func scheduleVisit() {
    Task.detached { @MainActor in self.visit() }
  }

  /// Runs all ready jobs, and the jobs that they make ready.
  ///
  /// Then, if a task waits for the simulation to be idle, it passes through the main queue once more. A hop to the main
  /// actor that was under way runs before that pass.
  @MainActor private func visit() {
    let mainQueue = MainQueueJobs(before: self)
    defer { mainQueue.endVisit() }
    let isHeld = state.withLock { state in
      state.visitIsDue = state.holds > 0
      return state.visitIsDue
    }
    if isHeld { return }
    var jobs = 0
    Self.running = self
    while let job = state.withLock({ $0.nextJob() }) {
      // The job runs on the main actor, and the runtime is told so; therefore it reaches the main actor without a hop.
      job.runSynchronously(isolatedTo: MainActor.sharedUnownedExecutor, taskExecutor: asUnownedTaskExecutor())
      jobs += 1
      // A seeded order also mixes this queue with the main queue, which runs yields and hops from actors.
      if state.withLock({ $0.random?.next() }).map({ $0 & 1 == 0 }) ?? false { break }
    }
    Self.running = nil
    let (next, released) = state.withLock { state in
      let next = state.next(afterRunning: jobs, mainQueue)
      return (next, state.release(before: next))
    }
    for job in released { OutsideWork.begin(job) }
    switch next {
    case .rest: return
    case .passAgain: break
    case .awaitOutsideWork: return OutsideWork.whenOver { self.scheduleVisit() }
    case .resume(let continuation): continuation.resume()
    }
    scheduleVisit()
  }
}
