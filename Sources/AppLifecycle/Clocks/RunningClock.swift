package import Scheduling

/// The clock of budgets, which stands still while the process does; for a host's own posts that wait.
package struct RunningClock: ClockWithHandle {
  package let handle: ClockHandle

  package var now: ApplicationClock.Instant { ApplicationClock.Instant(offset: handle.now()) }
  package var minimumResolution: Duration { .nanoseconds(1) }

  package func sleep(until deadline: ApplicationClock.Instant, tolerance: Duration?) async throws {
    try await handle.sleepUntil(deadline.offset)
  }
}

extension Application {
  package nonisolated var runningClock: RunningClock { RunningClock(handle: processTime.running) }
}
