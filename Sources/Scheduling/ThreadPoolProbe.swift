internal import CScheduling
internal import Synchronization

/// A question whether the global thread pool runs tasks.
///
/// A task waits in the queue of its priority, and each priority has threads of its own, so the probe asks at the two
/// priorities at which most code runs: that of tasks that code on the first thread starts, and the default one.
package final class ThreadPoolProbe: Sendable {
  private let unanswered: Atomic<Int>
  /// Whether the system created no thread for this process, so that the pool cannot grow, and was not asked.
  package let systemRefuses: Bool
  private let whenAnswered: @Sendable () -> Void

  /// Asks the pool, without a wait.
  ///
  /// `whenAnswered` is called on a thread of the pool when it has run a task of each priority. If the system creates no
  /// threads, no task is started, because the runtime would let the caller wait for a thread.
  package init(whenAnswered: @escaping @Sendable () -> Void = {}) {
    let priorities: [TaskPriority] = [.high, .medium]
    systemRefuses = !Self.systemCreatesThreads
    unanswered = Atomic(priorities.count)
    self.whenAnswered = whenAnswered
    guard !systemRefuses else { return }
    for priority in priorities { TaskStarter().start(priority: priority, seeing: nil) { self.answer() } }
  }

  private func answer() {
    if unanswered.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { whenAnswered() }
  }

  /// Whether the pool has not answered yet: all its threads compute or wait, or it was not asked.
  package var isUnanswered: Bool { unanswered.load(ordering: .acquiring) != 0 }

  /// Whether the system creates threads for this process at present.
  package static var systemCreatesThreads: Bool { scheduling_thread_can_start() }
}
