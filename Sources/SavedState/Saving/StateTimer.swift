import AppLifecycle
import Scheduling

/// A timer on the clock that stands still while the process does; releasing it clears it.
@MainActor final class StateTimer {
  private let deadlines: Deadlines
  private var id: Deadlines.ID?

  /// Sets a timer.
  ///
  /// - Parameters:
  ///   - delay: the time after which it fires.
  ///   - application: the application whose clock it follows.
  ///   - action: called when the time has passed, or early if the clock cannot sleep; the argument is true then.
  init(
    after delay: Duration, of application: Application,
    _ action: @escaping @Sendable @MainActor (_ isEarly: Bool) -> Void
  ) {
    deadlines = application.deadlines
    let tasks = application.tasks
    id = deadlines.set(deadlines.instant(after: delay)) { [weak deadlines] in
      let isEarly = deadlines?.haveRungEarly ?? false
      tasks.startOnMainActor { action(isEarly) }
    }
  }

  isolated deinit { if let id { deadlines.clear(id) } }
}
