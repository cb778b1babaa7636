import Scheduling

/// The timer of a heartbeat, on an application's clock.
package final class JournalTimer: Sendable {
  private let application: ClockHandle
  private let deadlines: Deadlines
  private let deadline = Guarded<Deadlines.ID?>(nil)

  init(on clock: ClockHandle, _ deadlines: Deadlines) { (application, self.deadlines) = (clock, deadlines) }

  /// The present time of the application's clock.
  var now: Duration { application.now() }

  /// Performs a step of a heartbeat; calls `action` with the timer's number when the timer fires.
  func perform(_ step: Heartbeat.Step, _ action: @escaping @Sendable (Int) -> Void) {
    switch step {
    case .set(let time, let number):
      // The clock of the deadlines stands still while the process does, and the application's clock goes on.
      let next = deadlines.set(deadlines.now() + max(.zero, time - now)) { [deadlines] in
        // A clock that cannot sleep tells no time at which a line is due.
        guard !deadlines.haveRungEarly else { return }
        // The thread of the timers must not wait for a disk or for handlers, nor for a thread that cannot be created.
        guard deadlines.areReal, ThreadPoolProbe.systemCreatesThreads else { return action(number) }
        TaskStarter().start { action(number) }
      }
      replace(with: next)
    case .clear: replace(with: nil)
    }
  }

  private func replace(with next: Deadlines.ID?) {
    let last = deadline.withLock { deadline in
      defer { deadline = next }
      return deadline
    }
    if let last { deadlines.clear(last) }
  }

  /// Clears the timer.
  func end() { replace(with: nil) }
}
