internal import Scheduling

extension Application {
  /// Runs work of the real world, which a simulation cannot run: input and output, a process, threads of a library.
  ///
  ///     let page = try await application.external { try await client.get(address) }
  ///
  /// In a program this only calls `body`. In a simulation the time of ``clock`` stands still until `body` has ended, and
  /// threads outside the simulation may wake its tasks meanwhile. Tasks that `body` starts run outside the simulation.
  /// When the simulation has nothing else to do, the callers continue in the order in which their calls began, however
  /// long each took. So the record does not depend on the machine.
  ///
  /// Any thread may call it. `body` must not wait for anything that only the simulation can do, such as a sleep on
  /// ``clock``. It calls this method itself only in its own task or a child task: in a detached task that it awaits,
  /// such a call waits forever. If two calls may be under way, call ``send(_:cause:)`` after them and not inside: the
  /// inputs would have the order of the threads.
  ///
  /// - Parameter body: the work, which runs in the isolation of the caller.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws.
  public nonisolated func external<Success, Failure: Error>(
    _ body: () async throws(Failure) -> Success
  ) async throws(Failure) -> Success {
    guard let simulated = clock.simulated else { return try await body() }
    return try await simulated.external(body)
  }
}
