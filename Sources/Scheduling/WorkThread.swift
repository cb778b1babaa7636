internal import CScheduling

#if canImport(ObjectiveC)
  internal import ObjectiveC
#endif

/// A thread for a job that blocks, such as a write to the disk: it needs no thread of the global pool.
package enum WorkThread {
  private final class Job: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    func run() {
      #if canImport(ObjectiveC)
        // The thread may run further jobs, so its own pool would grow.
        autoreleasepool { body() }
      #else
        body()
      #endif
    }
  }

  /// Performs a job on a thread that runs no other job, or on the caller's thread if the system cannot create one.
  ///
  /// The thread waits for a further job for five seconds. A new thread for each would take longer than a small save.
  package static func perform(_ body: @escaping @Sendable () -> Void) {
    let job = Job(body)
    if !start(job, name: nil) { job.run() }
  }

  /// Performs a job on a new thread, which blocks the signals that the caller's thread blocks.
  ///
  /// - Returns: false if the system cannot create the thread.
  package static func start(named name: StaticString, _ body: @escaping @Sendable () -> Void) -> Bool {
    start(Job(body), name: UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self))
  }

  private static func start(_ job: Job, name: UnsafePointer<CChar>?) -> Bool {
    let job = Unmanaged.passRetained(job)
    let hasStarted = scheduling_thread_start(
      name, { Unmanaged<Job>.fromOpaque($0).takeRetainedValue().run() }, job.toOpaque())
    if !hasStarted { job.release() }
    return hasStarted
  }
}
