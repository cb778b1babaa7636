import AppLifecycle
internal import CScheduling
import Foundation

extension MainQueue {
  /// Whether this code is the main actor's: on the main thread, or on another thread that serves the queue, as after
  /// `dispatchMain()`.
  ///
  /// Inside `sync` of another queue Dispatch knows of that queue alone, and the runtime of the main actor's job around it.
  static var isMainActors: Bool { Thread.isMainThread || isCurrent || scheduling_is_in_main_actor_job() }
}

/// Tells whether the main queue has run work since the probe was made.
@MainActor final class MainQueueProbe {
  private(set) var hasRun = false

  init() { DispatchQueue.main.async { self.hasRun = true } }
}
