internal import CScheduling
import Foundation

/// The queue on which the main actor runs.
enum MainQueue {
  private static let key: DispatchSpecificKey<Void> = {
    let key = DispatchSpecificKey<Void>()
    DispatchQueue.main.setSpecific(key: key, value: ())
    return key
  }()

  /// Whether this code runs on the main queue: on the main thread, or on another thread that serves the queue, as after
  /// `dispatchMain()`.
  ///
  /// Inside `sync` of another queue Dispatch knows of that queue alone, and the runtime of the main actor's job around it.
  static var isCurrent: Bool {
    Thread.isMainThread || DispatchQueue.getSpecific(key: key) != nil || scheduling_is_in_main_actor_job()
  }
}

/// Tells whether the main queue has run work since the probe was made.
@MainActor final class MainQueueProbe {
  private(set) var hasRun = false

  init() { DispatchQueue.main.async { self.hasRun = true } }
}
