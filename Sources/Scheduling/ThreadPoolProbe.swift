internal import CScheduling
internal import Synchronization

/// A question whether the global thread pool runs tasks.
///
/// A task waits in the queue of its priority, and each priority has threads of its own, so the probe asks at the two
/// priorities at which most code runs: that of tasks that code on the first thread starts, and the default one.
package final class ThreadPoolProbe: Sendable {
  /// The reason why tasks do not run.
  package enum Shortage: Sendable, Hashable {
    /// All threads of the pool are busy: they compute or wait.
    case poolIsBusy
    /// The system creates no thread for this process, so the pool cannot grow.
    case noThreadCanBeCreated
  }

  private let unanswered: Atomic<Int>
  private let systemRefuses: Bool
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

  /// The shortage, as far as it is known now; nil if the pool has answered.
  package var shortage: Shortage? {
    if systemRefuses { return .noThreadCanBeCreated }
    return unanswered.load(ordering: .acquiring) == 0 ? nil : .poolIsBusy
  }

  /// Whether the system creates threads for this process at present.
  package static var systemCreatesThreads: Bool { scheduling_thread_can_start() }
}
