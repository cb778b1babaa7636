import PubSub
import Scheduling
import Synchronization

/// A clock that a test advances, with an executor that runs all tasks that the clock wakes.
///
/// Sleeping tasks wake in the order of their deadlines, and at equal deadlines in the order in which they went to
/// sleep. After each wake-up, all resulting work runs before the next wake-up. So the order does not depend on the
/// machine.
///
/// Only tasks of its simulation may sleep on this clock: tasks that ``running(_:)``, ``withSimulation(order:_:)`` or the
/// application's `task` starts, all tasks of an `Application` or an `EventBus` on this clock, and the tasks that these
/// start. The sleep of any other task is reported as ``EscapedWork``, with its file and line.
public final class ManualClock: Clock {
  /// A point in the clock's time.
  public struct Instant: InstantProtocol, CustomStringConvertible {
    /// The time since the clock was made.
    public var offset: Duration

    /// Makes the instant `offset` after the clock was made.
    ///
    /// - Parameter offset: the time since the clock was made.
    public init(offset: Duration = .zero) { self.offset = offset }

    /// Returns the instant that is `duration` later.
    ///
    /// - Parameter duration: the time to add.
    /// - Returns: the later instant.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// Returns the time from this instant to the other.
    ///
    /// - Parameter other: the other instant.
    /// - Returns: the time between them; negative if the other instant is earlier.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Whether the first instant is earlier than the second.
    ///
    /// - Parameters:
    ///   - left: the first instant.
    ///   - right: the second instant.
    /// - Returns: true if the first instant is earlier.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }

    /// The offset as text: `t+` and the duration.
    public var description: String { "t+\(offset)" }
  }

  /// The executor that runs the tasks of this simulation.
  public let executor: SimulationExecutor

  private let state = Guarded(State())
  /// The time that the next call of each name takes.
  private let slowCalls = Guarded<[String: Duration]>([:])
  /// The periods of calls and other work that a script made slow, since the clock was made.
  private let slowWork = Guarded<[ClosedRange<Duration>]>([])

  /// Makes a clock that shows zero.
  ///
  /// - Parameter executor: runs the tasks that sleep on the clock.
  public init(executor: SimulationExecutor = SimulationExecutor()) { self.executor = executor }

  /// The present instant; it changes only when the clock is advanced.
  public var now: Instant { state.withLock { $0.now } }

  /// The resolution for general code: one nanosecond.
  ///
  /// The clock itself is exact.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// The number of tasks that sleep on this clock.
  package var sleepers: Int { state.withLock { $0.sleepers.count } }

  /// The instant at which the next sleeping task wakes; nil if no task sleeps.
  package var nextDeadline: Instant? { state.withLock { $0.sleepers.last?.deadline } }

  /// Suspends the task until the clock has been advanced to the deadline.
  ///
  /// - Parameters:
  ///   - deadline: when to wake; if it has passed, the task is not suspended.
  ///   - tolerance: ignored: the clock is exact.
  /// - Throws: `CancellationError` if the task is cancelled before the deadline.
  @_disfavoredOverload
  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try await sleep(until: deadline, at: nil)
  }

  /// Suspends the task until the clock has been advanced to the deadline.
  ///
  /// - Parameters:
  ///   - deadline: when to wake; if it has passed, the task is not suspended.
  ///   - tolerance: ignored: the clock is exact.
  ///   - fileID: the source position, which ``EscapedWork`` names if the task does not belong to the simulation.
  ///   - line: the source position.
  /// - Throws: `CancellationError` if the task is cancelled before the deadline.
  public func sleep(
    until deadline: Instant, tolerance: Duration? = nil, fileID: String = #fileID, line: Int = #line
  ) async throws {
    try await sleep(until: deadline, at: EventBus.Subscriber(label: nil, fileID: fileID, line: line))
  }

  /// Suspends the task until the clock has been advanced by a duration.
  ///
  /// - Parameters:
  ///   - duration: how long to sleep; if it is not positive the task is not suspended.
  ///   - tolerance: ignored: the clock is exact.
  ///   - fileID: the source position, which ``EscapedWork`` names if the task does not belong to the simulation.
  ///   - line: the source position.
  /// - Throws: `CancellationError` if the task is cancelled before the end.
  public func sleep(
    for duration: Duration, tolerance: Duration? = nil, fileID: String = #fileID, line: Int = #line
  ) async throws {
    let deadline = now.advanced(by: min(duration, Self.latest.offset))
    try await sleep(until: deadline, at: EventBus.Subscriber(label: nil, fileID: fileID, line: line))
  }

  private func sleep(until deadline: Instant, at line: EventBus.Subscriber?) async throws {
    try Task.checkCancellation()
    // No time passes after the latest instant, so nothing would wake a task that sleeps longer.
    let deadline = min(deadline, Self.latest)
    let id: UInt64? = state.withLock { state in
      guard deadline > state.now else { return nil }
      state.lastSleep += 1
      return state.lastSleep
    }
    guard let id else { return }
    executor.noteSleep(at: line)
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { continuation in
        let sleeper = Sleeper(deadline: deadline, id: id, continuation: continuation)
        let isAsleep = state.withLock { state in
          // The task's flag is set before the cancellation handler runs. So either this code sees the flag, or the
          // handler finds the sleeper.
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

// MARK: - Advancing the clock

extension ManualClock {
  /// The latest instant (292 billion years); later ones, and deadlines, are cut to it, so that sums of durations cannot
  /// overflow and each sleep ends.
  private static let latest = Instant(offset: .seconds(Int64.max))

  /// Runs all work that can run without time passing.
  public func settle() async { await executor.settle() }

  /// Advances the clock by a duration, from deadline to deadline; after each wake-up, all resulting work runs before
  /// the next one.
  ///
  /// When the method returns, all work that is due at the new instant has run.
  ///
  /// - Parameter duration: the time to pass; if it is not positive, no time passes.
  /// - Throws: ``EscapedWork`` if work has escaped from the simulation since the last check.
  @MainActor public func advance(by duration: Duration) async throws(EscapedWork) {
    let duration = min(max(duration, .zero), Self.latest.offset)
    try await advance(to: min(now.advanced(by: duration), Self.latest))
  }

  /// Advances the clock to an instant, as ``advance(by:)`` does; if the instant has passed, this only runs the work
  /// that is ready.
  ///
  /// - Parameter end: the clock's time afterward.
  /// - Throws: ``EscapedWork`` if work has escaped from the simulation since the last check.
  @MainActor public func advance(to end: Instant) async throws(EscapedWork) {
    let end = min(end, Self.latest)
    await executor.driven {
      await settle()
      // `passWithoutWaking` may have advanced the clock beyond `end`: the tasks that slept until then are due, too.
      while wakeNext(notAfter: max(end, now)) { await settle() }
    }
    state.withLock { $0.now = max($0.now, end) }
    try executor.checkForEscapes()
  }

  /// Advances the clock as a long call does: nothing else runs, and no task wakes.
  ///
  /// Tasks whose deadlines pass wake when the clock is next advanced or driven, in the order of their deadlines.
  package func passWithoutWaking(_ duration: Duration) {
    let duration = min(max(duration, .zero), Self.latest.offset)
    state.withLock { $0.now = min($0.now.advanced(by: duration), Self.latest) }
  }

  /// Sets the time that the next call of a name takes.
  package func setLength(of call: String, to duration: Duration) { slowCalls.withLock { $0[call] = duration } }

  /// Whether a task sleeps whose deadline has passed.
  package var hasOverdueSleepers: Bool {
    state.withLock { state in state.sleepers.last.map { $0.deadline <= state.now } ?? false }
  }

  /// Advances the clock until no task sleeps.
  ///
  /// - Parameter limit: the largest time to pass, because some tasks sleep again and again. The clock stops at the last
  ///   deadline within it.
  /// - Throws: ``EscapedWork`` if work has escaped from the simulation since the last check.
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
  /// Call it at the end of a test that drives the clock only by ``running(_:)`` or ``settle()``, which do not check for
  /// escaped work.
  ///
  /// - Throws: ``EscapedWork`` if work has escaped from the simulation since the last check.
  public func checkForEscapes() async throws(EscapedWork) {
    await settle()
    try executor.checkForEscapes()
  }

  /// Runs an operation to its end, and advances the clock to the next deadline whenever nothing else can run.
  ///
  /// Without this method, an operation that sleeps on the clock never ends, because nothing advances the clock.
  ///
  /// - Parameter operation: the work, which runs on ``executor``.
  /// - Returns: what the operation returns.
  /// - Throws: what the operation throws.
  @discardableResult
  public func running<Success: Sendable, Failure: Error>(
    _ operation: @escaping @Sendable () async throws(Failure) -> Success
  ) async throws(Failure) -> Success {
    try await drive(operation).get()
  }

  /// Runs work of the outside world, such as real input and output.
  ///
  /// Virtual time stands still until the work is done; see ``SimulationExecutor/external(_:)``.
  ///
  /// - Parameter body: the work. It must not wait for anything in the simulation; it may call what any thread may call,
  ///   such as `Application.send(_:cause:)`.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws.
  public func external<Success, Failure: Error>(
    _ body: () async throws(Failure) -> Success
  ) async throws(Failure) -> Success {
    try await executor.external(body)
  }

  /// Runs on the main actor, so that the operation starts and sleepers wake inside the simulation.
  @MainActor private func drive<Success: Sendable, Failure: Error>(
    _ operation: @escaping @Sendable () async throws(Failure) -> Success
  ) async -> Result<Success, Failure> {
    await executor.driven {
      await withTaskExecutorPreference(executor) {
        let isFinished = Atomic(false)
        async let result = Self.outcome(of: operation, then: { isFinished.store(true, ordering: .releasing) })
        while true {
          await settle()
          if isFinished.load(ordering: .acquiring) { break }
          // If no task sleeps, the operation waits for the outside world, whose answer the next `settle` runs.
          _ = wakeNext(notAfter: Self.latest)
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
    /// The sleeping tasks; the next one to wake is the last.
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

    /// Returns the first position whose sleeper does not wake after the given one.
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

extension ManualClock: SimulatedClock {
  /// The executor, for the application and the bus on this clock.
  package var taskExecutor: any TaskExecutor { executor }

  /// Advances the clock by the time of a call of this name, which is about to return.
  ///
  /// The time passes inside the call: nothing else runs, and tasks whose deadlines pass wake afterward.
  package func passTime(in call: String) {
    if let duration = takeLength(of: call) { passWithoutWaking(duration) }
  }

  package func takeLength(of work: String) -> Duration? {
    guard let length = slowCalls.withLock({ $0.removeValue(forKey: work) }) else { return nil }
    let began = now.offset
    slowWork.withLock { $0.append(began...max(began, min(began + length, Self.latest.offset))) }
    return length
  }

  /// Returns whether a call or other work, such as a save, took time up to now, or in a period before, because a script
  /// made it slow.
  package func hadSlowWork(within period: Duration) -> Bool {
    let now = now.offset
    return slowWork.withLock { $0.contains { $0.lowerBound <= now && $0.upperBound > now - period } }
  }
}
