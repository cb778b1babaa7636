internal import Scheduling

/// The time in which the process of an application can run, beside the application's clock, which goes on.
///
/// Budgets, deadlines and limits count this time. It stands still while the process does:
///
/// - In a program, while a signal has stopped the process, or a freezer has frozen it. The host knows that time, and
///   ``follow(_:)`` passes it on.
/// - In a simulation, while the application is suspended. Then nothing that sleeps on the clock of the application goes
///   on either, because a suspended process runs no code. What is due meanwhile happens when the process runs again.
package final class ProcessTime: Sendable {
  private typealias Continuation = UnsafeContinuation<Void, any Error>

  private struct State: Sendable {
    /// The time for which the process has stood still, without that of the present host and suspension.
    var lost = Duration.zero
    /// Returns the time for which the process has stood still since the host began; nil without a host.
    var lostWithHost: (@Sendable () -> Duration)?
    /// The time at which a simulated process was suspended; nil while it runs.
    var heldSince: Duration?
    /// What waits until a simulated process runs again, in the order in which it came.
    var waiting: [(id: UInt64, continuation: Continuation)] = []
    var lastID: UInt64 = 0
  }

  private let clock: ClockHandle
  private let isSimulated: Bool
  private let state = Guarded(State())

  init(_ clock: ClockHandle, isSimulated: Bool) { (self.clock, self.isSimulated) = (clock, isSimulated) }

  // MARK: Reading

  /// The time for which the process has stood still; it never shrinks.
  package var lost: Duration { state.withLock { lost(in: $0) } }

  private func lost(in state: State) -> Duration {
    let held = state.heldSince.map { clock.now() - $0 } ?? .zero
    return state.lost + held + (state.lostWithHost?() ?? .zero)
  }

  /// The application's clock, on which the sleepers of a simulated process are held while it is suspended.
  var elapsed: ClockHandle {
    guard isSimulated else { return clock }
    return ClockHandle(
      now: clock.now,
      sleepUntil: { [self, clock] in
        try await clock.sleepUntil($0)
        try await untilRunning()
      }, passTime: clock.passTime)
  }

  /// A clock that stands still while the process does.
  var running: ClockHandle {
    let elapsed = elapsed
    return ClockHandle(
      // The lost time is read first: what is lost between the two readings counts as time that has passed, once.
      now: { [self] in
        let lost = lost
        return elapsed.now() - lost
      },
      sleepUntil: { [self] deadline in
        var lost = lost
        while true {
          try await elapsed.sleepUntil(deadline + lost)
          let present = self.lost
          guard present > lost else { return }
          lost = present
        }
      }, systemClock: elapsed.systemClock, passTime: elapsed.passTime)
  }

  // MARK: A program

  /// Leaves out the time for which the process has stood still according to a host.
  ///
  /// - Parameter lost: returns that time since the host began; it never shrinks, and any thread may call it.
  package func follow(_ lost: @escaping @Sendable () -> Duration) { state.withLock { $0.lostWithHost = lost } }

  /// Ends ``follow(_:)``, because the host has ended.
  package func endFollowing() {
    state.withLock { state in
      state.lost += state.lostWithHost?() ?? .zero
      state.lostWithHost = nil
    }
  }

  // MARK: A simulation

  /// Whether the process of a simulation is suspended, so that none of its work begins or goes on.
  var isHeld: Bool { isSimulated && state.withLock { $0.heldSince != nil } }

  /// Holds the work of a simulated process, because it is suspended.
  func suspend() {
    guard isSimulated else { return }
    let now = clock.now()
    state.withLock { $0.heldSince = $0.heldSince ?? now }
  }

  /// Lets the held work go on, in the order in which it became due.
  func resume() {
    guard isSimulated else { return }
    let now = clock.now()
    let waiting = state.withLock { state in
      if let since = state.heldSince { state.lost += now - since }
      state.heldSince = nil
      defer { state.waiting = [] }
      return state.waiting
    }
    for waiter in waiting { waiter.continuation.resume() }
  }

  /// Waits until the process runs; returns at once unless it is the suspended process of a simulation.
  ///
  /// - Throws: `CancellationError` if the task is cancelled meanwhile.
  func untilRunning() async throws {
    guard isHeld else { return }
    try Task.checkCancellation()
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { (continuation: Continuation) in
        let outcome: Result<Void, any Error>? = state.withLock { state in
          // The task's flag is set before the cancellation handler runs, so one of the two sees the other.
          if Task.isCancelled { return .failure(CancellationError()) }
          guard state.heldSince != nil else { return .success(()) }
          state.waiting.append((id, continuation))
          return nil
        }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      let waiter = state.withLock { state -> Continuation? in
        guard let index = state.waiting.firstIndex(where: { $0.id == id }) else { return nil }
        return state.waiting.remove(at: index).continuation
      }
      waiter?.resume(throwing: CancellationError())
    }
  }
}
