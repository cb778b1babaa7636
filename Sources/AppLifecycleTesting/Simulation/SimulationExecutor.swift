import PubSub

/// Runs the jobs of every task that prefers it on the main queue, one at a time, in an order that depends on nothing but the
/// order in which they became ready, or on a seed.
///
/// Tasks come to it by task executor preference: child tasks, nonisolated functions, default actors, and wake-ups from
/// continuations, streams and a ``ManualClock`` all run here. Code isolated to the main actor stays on the main actor, which
/// is the same queue and therefore just as serial. Outside this world are `Task {}`, `Task.detached`, actors with executors
/// of their own, and the real world's answers; declare the latter with ``external(_:)``. The application's `task` starts a task
/// inside. Undeclared work from outside is reported as ``EscapedWork``.
///
/// Before the world counts as idle it waits for jobs that plain tasks have on the global executor. That is why a plain task that
/// sleeps on the world's clock is found in every run. Threads and queues of a component are not waited for.
///
/// A world differs from production in three ways: everything in it is serial; `MainActor.assumeIsolated` succeeds in its
/// nonisolated code; and awaiting the main actor may let other work in where production would not suspend. Blocking a thread
/// until something simulated happens is a deadlock.
///
/// Safe to use from any thread. A job costs about 0.6 µs.
public final class SimulationExecutor: TaskExecutor {
  /// The order in which jobs that are ready at the same time run.
  public enum Order: Sendable, Hashable {
    /// First in, first out.
    case fifo
    /// At random, and mixed with the main queue; the same seed gives the same order.
    case seeded(UInt64)
  }

  /// The order in which jobs that are ready at the same time run.
  public let order: Order

  /// How many passes through the main queue must bring no work before all is held to be quiet.
  ///
  /// A hop to the main actor that is under way stands in the main queue and so comes before the next pass. Each call between
  /// asynchronous main-actor functions after a hop from an actor takes two passes that this executor cannot see. The number
  /// is fixed, so that runs stay equal even for code that needs more.
  private static let passesUntilQuiet = 8

  private let state: Guarded<State>

  /// The world whose job the main queue runs.
  @MainActor static var running: SimulationExecutor?

  /// An executor with an empty queue, the middle of a world of its own.
  public init(order: Order = .fifo) {
    self.order = order
    var state = State()
    if case .seeded(let seed) = order { state.random = SplitMix64(seed: seed) }
    self.state = Guarded(state)
    MainQueue.mark()
    OutsideWork.count()
  }

  /// How many wake-ups came from a thread of the outside world without being declared; 0 where the order is repeatable.
  ///
  /// Those that came while the world was driven are also reported as ``EscapedWork``; others may be the test's own.
  public var foreignWakeUps: Int { state.withLock { $0.foreignWakeUps } }

  /// How many jobs have come so far.
  var jobsEnqueued: Int { state.withLock { $0.jobsEnqueued } }

  /// Takes a job of a task that prefers this executor.
  ///
  /// Called by the concurrency runtime.
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
  /// Whether the present task belongs to this world.
  var isPreferred: Bool { withUnsafeCurrentTask { $0?.unownedTaskExecutor == asUnownedTaskExecutor() } }

  /// Adds what escaped to what the next check throws, once for each place.
  func note(_ escape: Escape) { state.withLock { $0.note(escape) } }

  /// Lets a job of the global executor wait until this world has nothing else to do.
  func hold(_ job: OutsideWork.Job) { state.withLock { $0.held.append(job) } }

  /// Throws what has escaped since the last check, if anything has.
  func checkForEscapes() throws(EscapedWork) {
    try Self.check(
      state.withLock { state in
        defer { state.escapes = [] }
        return state.escapes
      })
  }

  /// Throws all that has ever escaped, if anything has.
  func checkForAllEscapes() throws(EscapedWork) { try Self.check(state.withLock { Array($0.knownEscapes) }) }

  private static func check(_ escapes: [ContractViolation]) throws(EscapedWork) {
    guard !escapes.isEmpty else { return }
    throw EscapedWork(violations: escapes.sorted { ($0.place, $0.message) < ($1.place, $1.message) })
  }

  /// Does something that drives the world: wake-ups from outside are not the test's own meanwhile.
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

  /// Keeps the world still until jobs that the test itself began are over.
  ///
  /// A test that has read a property of an actor goes on while the thread that read it may still hold the actor. A simulated
  /// task that needs the actor meanwhile would be woken by that thread, from outside.
  private func awaitOwnWork(isolation: isolated (any Actor)? = #isolation) async {
    guard OutsideWork.isUnderWay, !isPreferred else { return }
    let mayWait = state.withLock { state in
      // Declared work of the outside world is waited for in its own way.
      guard state.externalCalls.isEmpty else { return false }
      state.holds += 1
      return true
    }
    guard mayWait else { return }
    await withUnsafeContinuation { (continuation: Continuation) in
      // Resumed on the main queue, as all that waits for the world.
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

// MARK: - Quiet

extension SimulationExecutor {
  /// Returns once nothing is left to run without time passing, and no external work is under way.
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

  /// Returns once more jobs have come than those counted earlier.
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

// MARK: - The outside world

extension SimulationExecutor {
  /// Runs work of the outside world: real input and output, a real sleep.
  ///
  /// The work runs at once. The callers go on when everything here is quiet, in the order in which the calls began, however
  /// long each took. Virtual time stands still meanwhile. So the record does not depend on the machine.
  ///
  /// - Parameter body: the work; it must not touch the simulated world.
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
    /// Set when the work itself is done.
    var whatFollows: Continuation?
  }

  private struct State {
    var ready = JobQueue()
    /// Whether a visit of the main queue is under way or on its way.
    var visitIsScheduled = false
    var random: SplitMix64?
    var jobsEnqueued = 0
    var foreignWakeUps = 0
    /// How many calls keep the world still.
    var holds = 0
    /// Whether a visit came meanwhile, and comes again afterwards.
    var visitIsDue = false
    /// Passes in a row without any work.
    var quietPasses = 0
    var quietWaiters: [Continuation] = []
    var workWaiters: [Continuation] = []
    /// How many calls drive the world.
    var drives = 0
    /// What has escaped and has not been thrown.
    var escapes: [ContractViolation] = []
    /// What has been thrown or is about to be.
    var knownEscapes: Set<ContractViolation> = []
    /// Jobs that escaped and have not begun.
    var held: [OutsideWork.Job] = []
    /// In the order in which they began.
    var externalCalls: [ExternalCall] = []
    var lastExternalCall: UInt64 = 0

    var isDriven: Bool { drives > 0 || !quietWaiters.isEmpty }

    mutating func note(_ escape: Escape) {
      let violation = escape.violation
      if knownEscapes.insert(violation).inserted { escapes.append(violation) }
    }

    /// Whether the caller has to schedule a visit.
    mutating func takeVisit() -> Bool {
      defer { visitIsScheduled = true }
      return !visitIsScheduled
    }

    mutating func nextJob() -> UnownedJob? {
      if random != nil { ready.bringForward(using: &random!) }
      return ready.popFirst()
    }

    /// The jobs to be held no longer: nothing else is to run, or declared work of the outside world needs them.
    mutating func release(before next: Next) -> [OutsideWork.Job] {
      if case .passAgain = next, externalCalls.isEmpty { return [] }
      defer { held = [] }
      return held
    }

    /// What a visit that ran `jobs` jobs leaves to be done.
    mutating func next(afterRunning jobs: Int) -> Next {
      if !ready.isEmpty {
        quietPasses = 0
        return .passAgain
      }
      let isAwaited = externalCalls.isEmpty ? !quietWaiters.isEmpty : externalCalls[0].whatFollows != nil
      guard isAwaited else {
        // The first in line needs no visit now: the end of an external call, a waiter or a job will schedule one.
        quietPasses = 0
        visitIsScheduled = false
        return .rest
      }
      quietPasses = jobs > 0 ? 0 : quietPasses + 1
      guard quietPasses > SimulationExecutor.passesUntilQuiet else { return .passAgain }
      quietPasses = 0
      // Declared work of the outside world is waited for in its own way.
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

  /// A fresh main-actor task goes straight to the main queue, first in, first out.
  private func scheduleVisit() {
    Task.detached { @MainActor in self.visit() }
  }

  /// Runs everything that is ready, and what that makes ready.
  ///
  /// Then, if a task waits for quiet, passes once more through the main queue: a hop to the main actor that was under way
  /// stands before it.
  @MainActor private func visit() {
    let isHeld = state.withLock { state in
      state.visitIsDue = state.holds > 0
      return state.visitIsDue
    }
    if isHeld { return }
    var jobs = 0
    Self.running = self
    while let job = state.withLock({ $0.nextJob() }) {
      // Told that it is on the main actor, as it is, a job reaches the main actor in place, without a hop.
      job.runSynchronously(isolatedTo: MainActor.sharedUnownedExecutor, taskExecutor: asUnownedTaskExecutor())
      jobs += 1
      // A seeded order also mixes this queue with the main queue, through which yields and hops from actors come.
      if state.withLock({ $0.random?.next() }).map({ $0 & 1 == 0 }) ?? false { break }
    }
    Self.running = nil
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
    }
    scheduleVisit()
  }
}
