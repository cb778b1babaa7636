public import PubSub
import Synchronization

/// A clock that a test advances, with the executor on which all tasks run that it wakes.
///
/// Sleeping tasks wake in the order of their deadlines, and at equal deadlines in the order in which they went to sleep. After
/// each wake-up, all work that it leads to runs before the next wake-up. So the order does not depend on the machine.
///
/// Only tasks that prefer ``executor`` may sleep: those that ``running(_:)`` and ``withSimulation(order:_:)`` start, those of the
/// application's `task`, and all that an `Application` or an `EventBus` on this clock makes. The sleep of any other task is
/// reported as ``EscapedWork``, with its file and line.
public final class ManualClock: SimulatedClock {
  /// A point in the clock's time.
  public struct Instant: InstantProtocol, CustomStringConvertible {
    /// How long after the clock was made.
    public var offset: Duration

    /// The instant that lies `offset` after the making of the clock.
    public init(offset: Duration = .zero) { self.offset = offset }

    /// The instant that lies `duration` later.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// The time from this instant to the other.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Whether one instant lies before the other.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }

    /// The offset with a sign, for people.
    public var description: String { "t+\(offset)" }
  }

  /// The executor on which the tasks of this clock's world run.
  public let executor: SimulationExecutor

  /// The same executor, for the application and the bus on this clock.
  package var taskExecutor: any TaskExecutor { executor }

  private let state = Guarded(State())
  /// How long the next call of a name takes.
  private let slowCalls = Guarded<[String: Duration]>([:])

  /// A clock at zero.
  public init(executor: SimulationExecutor = SimulationExecutor()) { self.executor = executor }

  /// The present instant; it changes only when the clock is advanced.
  public var now: Instant { state.withLock { $0.now } }

  /// One nanosecond; the clock itself is exact.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// How many tasks sleep on this clock.
  public var sleepers: Int { state.withLock { $0.sleepers.count } }

  /// When the next sleeping task wakes; nil if no task sleeps.
  public var nextDeadline: Instant? { state.withLock { $0.sleepers.last?.deadline } }

  /// Suspends the task until the clock has been advanced to the deadline.
  ///
  /// - Parameters:
  ///   - deadline: when to wake; one that has passed does not suspend.
  ///   - tolerance: ignored, the clock is exact.
  /// - Throws: `CancellationError` if the task is cancelled before the deadline.
  @_disfavoredOverload
  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try await sleep(until: deadline, at: nil)
  }

  /// Suspends the task until the clock has been advanced to the deadline.
  ///
  /// - Parameters:
  ///   - deadline: when to wake; one that has passed does not suspend.
  ///   - tolerance: ignored, the clock is exact.
  ///   - fileID: the source position, which ``EscapedWork`` names if the task does not prefer ``executor``.
  ///   - line: the source position.
  /// - Throws: `CancellationError` if the task is cancelled before the deadline.
  public func sleep(
    until deadline: Instant, tolerance: Duration? = nil, fileID: String = #fileID, line: Int = #line
  ) async throws {
    try await sleep(until: deadline, at: Subscriber(label: nil, fileID: fileID, line: line))
  }

  /// Suspends the task until the clock has been advanced by a duration.
  ///
  /// - Parameters:
  ///   - duration: how long to sleep; if it is not positive the task is not suspended.
  ///   - tolerance: ignored, the clock is exact.
  ///   - fileID: the source position, which ``EscapedWork`` names if the task does not prefer ``executor``.
  ///   - line: the source position.
  /// - Throws: `CancellationError` if the task is cancelled before the end.
  public func sleep(
    for duration: Duration, tolerance: Duration? = nil, fileID: String = #fileID, line: Int = #line
  ) async throws {
    let deadline = now.advanced(by: min(duration, Self.latest.offset))
    try await sleep(until: deadline, at: Subscriber(label: nil, fileID: fileID, line: line))
  }

  private func sleep(until deadline: Instant, at line: Subscriber?) async throws {
    try Task.checkCancellation()
    let id: UInt64? = state.withLock { state in
      guard deadline > state.now else { return nil }
      state.lastSleep += 1
      return state.lastSleep
    }
    guard let id else { return }
    if !executor.isPreferred { executor.note(.sleep(at: line, in: Origin.current)) }
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { continuation in
        let sleeper = Sleeper(deadline: deadline, id: id, continuation: continuation)
        let isAsleep = state.withLock { state in
          // The flag is set before a cancellation handler runs: either it is seen here, or the handler finds the sleeper.
          guard !Task.isCancelled else { return false }
          state.insert(sleeper)
          return true
        }
        if !isAsleep { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      state.withLock { $0.remove(deadline: deadline, id: id) }?.resume(throwing: CancellationError())
    }
  }
}

// MARK: - Letting time pass

extension ManualClock {
  /// No instant of a script or a test lies beyond this one (292 billion years): sums of durations cannot overflow.
  private static let latest = Instant(offset: .seconds(Int64.max))

  /// Runs all work that can run without time passing.
  public func settle() async { await executor.settle() }

  /// Lets time pass from deadline to deadline; all work that a wake-up leads to runs before the next wake-up.
  ///
  /// When the method returns, all work has run that is due at the new instant.
  ///
  /// - Parameter duration: how long; if it is not positive, no time passes.
  /// - Throws: the work that has escaped from the simulation since the last check.
  @MainActor public func advance(by duration: Duration) async throws(EscapedWork) {
    let duration = min(max(duration, .zero), Self.latest.offset)
    try await advance(to: min(now.advanced(by: duration), Self.latest))
  }

  /// Lets time pass up to an instant, as ``advance(by:)`` does; an instant that has passed only settles.
  ///
  /// - Parameter end: the clock's time afterwards.
  /// - Throws: the work that has escaped from the simulation since the last check.
  @MainActor public func advance(to end: Instant) async throws(EscapedWork) {
    await executor.driven {
      await settle()
      // Time may also pass without waking: tasks that slept until then are due as well.
      while wakeNext(notAfter: max(end, now)) { await settle() }
    }
    state.withLock { $0.now = max($0.now, end) }
    try executor.checkForEscapes()
  }

  /// Lets time pass at once, as it passes inside a call that takes long: nothing else runs, and no task wakes.
  ///
  /// Tasks that slept until then wake when the clock is next advanced or a task waits on it, in the order of their deadlines.
  package func passWithoutWaking(_ duration: Duration) {
    let duration = min(max(duration, .zero), Self.latest.offset)
    state.withLock { $0.now = min($0.now.advanced(by: duration), Self.latest) }
  }

  /// The next call of this name takes so long.
  package func setLength(of call: String, to duration: Duration) { slowCalls.withLock { $0[call] = duration } }

  /// A call of this name is about to return.
  ///
  /// Its time passes inside the call: nothing else runs meanwhile, and what sleeps until then wakes afterwards.
  package func passTime(in call: String) {
    if let duration = slowCalls.withLock({ $0.removeValue(forKey: call) }) { passWithoutWaking(duration) }
  }

  /// Whether a task sleeps until an instant that has passed.
  package var hasOverdueSleepers: Bool {
    state.withLock { state in state.sleepers.last.map { $0.deadline <= state.now } ?? false }
  }

  /// Lets time pass until no task sleeps.
  ///
  /// - Parameter limit: the longest time, as some tasks sleep again and again. Time stops at the last deadline within it.
  /// - Throws: the work that has escaped from the simulation since the last check.
  @MainActor public func run(limit: Duration = .seconds(365 * 86_400)) async throws(EscapedWork) {
    let end = min(now.advanced(by: min(limit, Self.latest.offset)), Self.latest)
    await executor.driven {
      await settle()
      while wakeNext(notAfter: end) { await settle() }
    }
    try executor.checkForEscapes()
  }

  /// Runs all work that can run without time passing, and throws if work has escaped from the simulation.
  ///
  /// For the end of a test that drives the clock by ``running(_:)`` or ``settle()`` alone, which throw nothing of their own.
  ///
  /// - Throws: the work that has escaped from the simulation since the last check.
  public func checkForEscapes() async throws(EscapedWork) {
    await settle()
    try executor.checkForEscapes()
  }

  /// Runs an operation to its end, and lets time pass from deadline to deadline whenever nothing else can run.
  ///
  /// Without it, an operation that takes virtual time never ends, as the clock is not advanced.
  ///
  /// - Parameter operation: the work, which runs on ``executor``.
  /// - Returns: what the operation returns.
  /// - Throws: what the operation throws.
  public func running<Success: Sendable, Failure: Error>(
    _ operation: @escaping @Sendable () async throws(Failure) -> Success
  ) async throws(Failure) -> Success {
    try await drive(operation).get()
  }

  /// Runs work of the outside world.
  ///
  /// Virtual time stands still until it is done; see ``SimulationExecutor/external(_:)``.
  ///
  /// - Parameter body: the work; it must not touch the simulated world.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws.
  public func external<Success, Failure: Error>(
    _ body: () async throws(Failure) -> Success
  ) async throws(Failure) -> Success {
    try await executor.external(body)
  }

  /// On the main actor, so that the operation is started and sleepers are woken from inside the world.
  @MainActor private func drive<Success: Sendable, Failure: Error>(
    _ operation: @escaping @Sendable () async throws(Failure) -> Success
  ) async -> Result<Success, Failure> {
    await executor.driven {
      await withTaskExecutorPreference(executor) {
        let isFinished = Atomic(false)
        async let result = Self.outcome(of: operation, then: { isFinished.store(true, ordering: .releasing) })
        while true {
          let jobs = executor.jobsEnqueued
          await settle()
          if isFinished.load(ordering: .acquiring) { break }
          // No task sleeps: the operation waits for the outside world, whose answer comes as a job. Counting from before all
          // was quiet, no answer is missed.
          if !wakeNext(notAfter: Self.latest) { await executor.nextWork(after: jobs) }
        }
        return await result
      }
    }
  }

  private static func outcome<Success: Sendable, Failure: Error>(
    of operation: @Sendable () async throws(Failure) -> Success, then finish: @Sendable () -> Void
  ) async -> Result<Success, Failure> {
    defer { finish() }
    do throws(Failure) { return .success(try await operation()) } catch { return .failure(error) }
  }

  @MainActor private func wakeNext(notAfter end: Instant) -> Bool {
    guard let continuation = state.withLock({ $0.popNext(notAfter: end) }) else { return false }
    continuation.resume()
    return true
  }
}

// MARK: - Sleeping tasks

extension ManualClock {
  private typealias Continuation = UnsafeContinuation<Void, any Error>

  private struct Sleeper {
    var deadline: Instant
    var id: UInt64
    var continuation: Continuation
  }

  private struct State {
    var now = Instant()
    var lastSleep: UInt64 = 0
    /// The next to wake stands last.
    var sleepers: [Sleeper] = []

    mutating func insert(_ sleeper: Sleeper) {
      sleepers.insert(sleeper, at: position(deadline: sleeper.deadline, id: sleeper.id))
    }

    mutating func remove(deadline: Instant, id: UInt64) -> Continuation? {
      let position = position(deadline: deadline, id: id)
      guard position < sleepers.count, sleepers[position].id == id else { return nil }
      return sleepers.remove(at: position).continuation
    }

    mutating func popNext(notAfter end: Instant) -> Continuation? {
      guard let next = sleepers.last, next.deadline <= end else { return nil }
      sleepers.removeLast()
      now = max(now, next.deadline)
      return next.continuation
    }

    /// The first position whose sleeper does not wake after the one described.
    private func position(deadline: Instant, id: UInt64) -> Int {
      var (low, high) = (0, sleepers.count)
      while low < high {
        let middle = (low + high) / 2
        let other = sleepers[middle]
        if (other.deadline, other.id) > (deadline, id) { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }
}
