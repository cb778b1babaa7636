import Dispatch
import PubSub

/// Runs the jobs of every task that prefers it on the main queue, one at a time, in an order that depends on nothing but the
/// order in which they became ready, or on a seed.
///
/// Tasks come to it by task executor preference: child tasks, nonisolated functions, default actors, and wake-ups from
/// continuations, streams and a ``ManualClock`` all run here. Code isolated to the main actor stays on the main actor, which
/// is the same queue and therefore just as serial. Outside this world are `Task {}`, `Task.detached`, actors with executors
/// of their own, and the real world's answers; declare the latter with ``external(_:)``.
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

  /// An executor with an empty queue, the middle of a world of its own.
  public init(order: Order = .fifo) {
    self.order = order
    var state = State()
    if case .seeded(let seed) = order { state.random = SplitMix64(seed: seed) }
    self.state = Guarded(state)
    MainQueue.mark()
  }

  /// How many wake-ups came from a thread of the outside world without being declared; 0 where the order is repeatable.
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
      if isForeign, state.externalCalls.isEmpty { state.foreignWakeUps += 1 }
      let waiters = state.workWaiters
      state.workWaiters = []
      return (waiters, state.takeVisit())
    }
    if schedules { scheduleVisit() }
    for waiter in waiters { waiter.resume() }
  }
}

// MARK: - Quiet

extension SimulationExecutor {
  /// Returns once nothing is left to run without time passing, and no external work is under way.
  public func settle() async {
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
  /// The work runs at once. What follows it goes on when everything here is quiet, in the order in which the calls began,
  /// however long each took; virtual time stands still meanwhile. The record therefore does not depend on the machine.
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
    /// Passes in a row without any work.
    var quietPasses = 0
    var quietWaiters: [Continuation] = []
    var workWaiters: [Continuation] = []
    /// In the order in which they began.
    var externalCalls: [ExternalCall] = []
    var lastExternalCall: UInt64 = 0

    /// Whether the caller has to schedule a visit.
    mutating func takeVisit() -> Bool {
      defer { visitIsScheduled = true }
      return !visitIsScheduled
    }

    mutating func nextJob() -> UnownedJob? {
      if random != nil { ready.bringForward(using: &random!) }
      return ready.popFirst()
    }

    /// What a visit that ran `jobs` jobs leaves to be done.
    mutating func next(afterRunning jobs: Int) -> Next {
      if !ready.isEmpty {
        quietPasses = 0
        return .passAgain
      }
      let isAwaited = externalCalls.isEmpty ? !quietWaiters.isEmpty : externalCalls[0].whatFollows != nil
      guard isAwaited else {
        // Whoever is first in line wants no visit now: the end of an external call, a waiter or a job will schedule one.
        quietPasses = 0
        visitIsScheduled = false
        return .rest
      }
      quietPasses = jobs > 0 ? 0 : quietPasses + 1
      guard quietPasses > SimulationExecutor.passesUntilQuiet else { return .passAgain }
      quietPasses = 0
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
    case resume(Continuation)
  }

  /// A fresh main-actor task goes straight to the main queue, first in, first out.
  private func scheduleVisit() {
    Task.detached { @MainActor in self.visit() }
  }

  /// Runs everything that is ready, and what that makes ready.
  ///
  /// Then, if somebody waits for quiet, passes once more through the main queue: a hop to the main actor that was under way
  /// stands before it.
  @MainActor private func visit() {
    var jobs = 0
    while let job = state.withLock({ $0.nextJob() }) {
      // Told that it is on the main actor, as it is, a job reaches the main actor in place, without a hop.
      job.runSynchronously(isolatedTo: MainActor.sharedUnownedExecutor, taskExecutor: asUnownedTaskExecutor())
      jobs += 1
      // A seeded order also mixes this queue with the main queue, through which yields and hops from actors come.
      if state.withLock({ $0.random?.next() }).map({ $0 & 1 == 0 }) ?? false { break }
    }
    switch state.withLock({ $0.next(afterRunning: jobs) }) {
    case .rest: return
    case .passAgain: break
    case .resume(let continuation): continuation.resume()
    }
    scheduleVisit()
  }
}

/// Tells whether the current thread is on the main queue, in the middle of the world, or outside it.
private enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  static func mark() { _ = key }

  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}
