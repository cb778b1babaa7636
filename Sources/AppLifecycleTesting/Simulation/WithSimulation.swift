/// Runs a test in a world of its own, in which asynchronous work is repeatable.
///
/// Everything that the body starts structurally (child tasks, nonisolated functions, default actors) runs on the clock's
/// executor, one job at a time. The same order gives the same run, in debug and release, under any load. Several worlds may
/// run side by side.
///
///     try await withSimulation(order: .seeded(7)) { clock in
///       async let late: Void = clock.sleep(for: .seconds(60))
///       try await clock.advance(by: .seconds(60))
///       try await late
///     }
///
/// - Parameters:
///   - order: in which order jobs run that are ready at the same time.
///   - body: the test; its clock stands at zero.
/// - Returns: what the body returns.
/// - Throws: ``EscapedWork`` if work escaped from the simulation, as that also explains the other failures; else what the body
///   throws.
public func withSimulation<Success: Sendable>(
  order: SimulationExecutor.Order = .fifo,
  _ body: @escaping @Sendable (ManualClock) async throws -> Success
) async throws -> Success {
  try await enterSimulation(of: ManualClock(executor: SimulationExecutor(order: order)), body)
}

/// On the main actor, so that the world is entered from inside.
@MainActor private func enterSimulation<Success: Sendable>(
  of clock: ManualClock, _ body: @escaping @Sendable (ManualClock) async throws -> Success
) async throws -> Success {
  let enter = { @concurrent () async -> Result<Success, any Error> in
    do { return .success(try await body(clock)) } catch { return .failure(error) }
  }
  let result = await clock.executor.driven {
    let result = await withTaskExecutorPreference(clock.executor, operation: enter)
    await clock.settle()
    return result
  }
  // Also what was thrown inside, where the body may have dropped it.
  try clock.executor.checkForAllEscapes()
  return try result.get()
}
