package import Scheduling

/// The clock of an application, on which its components wait, so that a simulation can advance their time.
///
/// Its instants count from the creation of the application. The default, a `SuspendingClock`, stands still while the
/// machine sleeps. It continues while the process is stopped by Ctrl-Z or SIGSTOP, but the budgets and deadlines of the
/// application do not count that time. A simulation reports a sleep in a task that does not belong to the simulation,
/// with the line of the sleep.
///
/// No code of a suspended process runs. A sleep whose deadline passes while a simulated application is suspended therefore
/// ends when the application runs again. To simulate the outside world, sleep on the clock of the simulation.
public struct ApplicationClock: Clock {
  /// A point in the clock's time.
  ///
  /// ``offset`` is the time since the creation of the application, and ``duration(to:)`` the time between two instants:
  /// `start.duration(to: clock.now) / .milliseconds(1)` is the time since `start` in milliseconds.
  public struct Instant: InstantProtocol {
    /// The time since the creation of the application.
    public var offset: Duration

    package init(offset: Duration = .zero) { self.offset = offset }

    /// Returns the instant that is `duration` later.
    ///
    /// - Parameter duration: the time to add.
    /// - Returns: the later instant.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// Returns the time from this instant to the other.
    ///
    /// - Parameter other: the other instant.
    /// - Returns: the time, which is negative if the other instant is earlier.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Returns whether one instant is before the other.
    ///
    /// - Parameters:
    ///   - left: an instant.
    ///   - right: another instant.
    /// - Returns: whether the left instant is before the right one.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private let timing: ClockHandle
  package let simulated: (any SimulatedClock)?
  private let processTime: ProcessTime
  /// The resolution of the application's clock.
  public let minimumResolution: Duration

  init(_ clock: any Clock<Duration>, timing: ClockHandle, processTime: ProcessTime) {
    (self.timing, self.processTime) = (timing, processTime)
    simulated = clock as? any SimulatedClock
    minimumResolution = clock.minimumResolution
  }

  /// The current instant.
  public var now: Instant { Instant(offset: timing.now()) }

  /// Suspends the task until the deadline.
  ///
  /// - Parameters:
  ///   - deadline: the time to wake; the task is not suspended if it has passed.
  ///   - tolerance: ignored.
  /// - Throws: `CancellationError` if the task is cancelled before the deadline.
  @_disfavoredOverload
  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try await timing.sleepUntil(deadline.offset)
  }

  /// Suspends the task until the deadline.
  ///
  /// - Parameters:
  ///   - deadline: the time to wake; the task is not suspended if it has passed.
  ///   - tolerance: ignored.
  ///   - fileID: the source position, which a simulation names if the task does not belong to it.
  ///   - line: the line of the call.
  /// - Throws: `CancellationError` if the task is cancelled before the deadline.
  public func sleep(
    until deadline: Instant, tolerance: Duration? = nil, fileID: String = #fileID, line: Int = #line
  ) async throws {
    guard let simulated else { return try await timing.sleepUntil(deadline.offset) }
    try await simulated.sleep(for: deadline.offset - timing.now(), tolerance: tolerance, fileID: fileID, line: line)
    try await processTime.untilRunning()
  }

  /// Suspends the task for a duration.
  ///
  /// - Parameters:
  ///   - duration: the time to sleep; the task is not suspended if it is not positive.
  ///   - tolerance: ignored.
  ///   - fileID: the source position, which a simulation names if the task does not belong to it.
  ///   - line: the line of the call.
  /// - Throws: `CancellationError` if the task is cancelled before the end.
  public func sleep(
    for duration: Duration, tolerance: Duration? = nil, fileID: String = #fileID, line: Int = #line
  ) async throws {
    guard let simulated else { return try await timing.sleepUntil(timing.instant(after: duration)) }
    try await simulated.sleep(for: duration, tolerance: tolerance, fileID: fileID, line: line)
    try await processTime.untilRunning()
  }
}
