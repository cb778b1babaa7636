import AppLifecycle
import Scheduling

/// A timer on the clock that stands still while the process does; releasing it clears it.
@MainActor final class StateTimer {
  private let deadlines: Deadlines
  private var id: Deadlines.ID?

  init(after delay: Duration, of application: Application, _ action: @escaping @Sendable @MainActor () -> Void) {
    deadlines = application.deadlines
    let tasks = application.tasks
    id = deadlines.set(deadlines.instant(after: delay)) { tasks.startOnMainActor { action() } }
  }

  isolated deinit { if let id { deadlines.clear(id) } }
}
