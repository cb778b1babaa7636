#if MQTT
  import CMosquitto
  import Dispatch

  /// Runs a task on the thread of a connection: one that is started while the thread reads, once it has read, and one for which
  /// the connection was chosen; any other job, such as the rest of a task that has waited, on the global pool.
  ///
  /// So what has arrived is posted, and what was posted is sent, by the thread that has been woken for it, and without a thread of the pool.
  final class ConnectionThreadExecutor: TaskExecutor {
    static let shared = ConnectionThreadExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
      let job = unsafeBitCast(UnownedJob(job), to: UnsafeMutableRawPointer.self)
      if !mqtt_take(job) { pass(job) }
    }

    /// Runs a job on the calling thread.
    func run(_ job: UnsafeMutableRawPointer) {
      unsafeBitCast(job, to: UnownedJob.self).runSynchronously(on: asUnownedTaskExecutor())
    }

    /// Runs a job on the global pool.
    func pass(_ job: UnsafeMutableRawPointer) {
      let job = unsafeBitCast(job, to: UnownedJob.self)
      DispatchQueue.global().async { job.runSynchronously(on: Self.shared.asUnownedTaskExecutor()) }
    }
  }
#endif
