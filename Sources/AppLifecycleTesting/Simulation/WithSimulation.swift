/// Runs a test in a simulation of its own, in which asynchronous work is repeatable.
///
/// Everything that the body starts structurally (child tasks, nonisolated functions, default actors) runs on the
/// clock's executor, one job at a time. The same order gives the same run, in debug and release, under any load.
/// Several simulations may run side by side.
///
///     try await withSimulation(order: .seeded(7)) { clock in
///       async let late: Void = clock.sleep(for: .seconds(60))
///       try await clock.advance(by: .seconds(60))
///       try await late
///     }
///
/// - Parameters:
///   - order: the order in which jobs that are ready at the same time run.
///   - body: the test, with a clock that shows zero.
/// - Returns: what the body returns.
/// - Throws: ``EscapedWork`` if work escaped from the simulation, because that explains the other failures, too; else
///   what the body throws.
public func withSimulation<Success: Sendable>(
  order: SimulationExecutor.Order = .fifo,
  _ body: @escaping @Sendable (ManualClock) async throws -> Success
) async throws -> Success {
  try await enterSimulation(of: ManualClock(executor: SimulationExecutor(order: order)), body)
}

/// Runs on the main actor, so that the test starts inside the simulation.
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
  // Check all escapes, including those that were thrown inside the body: it may have ignored the error.
  try clock.executor.checkForAllEscapes()
  return try result.get()
}
