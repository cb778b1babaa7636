internal import CScheduling

/// A thread for one job that blocks, such as a write to the disk: it needs no thread of the global pool.
package enum WorkThread {
  private final class Job: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Performs a job on a thread that has no other; on the caller's thread if the system can create none.
  ///
  /// The thread waits for another job for five seconds. A new thread for each would take longer than a small save.
  package static func perform(_ body: @escaping @Sendable () -> Void) {
    let job = Unmanaged.passRetained(Job(body))
    let hasStarted = scheduling_thread_start(
      { Unmanaged<Job>.fromOpaque($0).takeRetainedValue().body() }, job.toOpaque())
    if !hasStarted { job.takeRetainedValue().body() }
  }
}
