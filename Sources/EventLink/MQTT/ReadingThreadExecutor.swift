#if MQTT
  import CMosquitto
  import Dispatch

  /// Runs a task that is started while a connection's thread reads on that thread, once it has read; any other job on the global pool.
  ///
  /// So what has arrived is posted without waking another thread.
  final class ReadingThreadExecutor: TaskExecutor {
    static let shared = ReadingThreadExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      if mqtt_defer(unsafeBitCast(job, to: UnsafeMutableRawPointer.self)) { return }
      DispatchQueue.global().async { job.runSynchronously(on: Self.shared.asUnownedTaskExecutor()) }
    }

    /// Runs a job that was deferred.
    func run(_ job: UnsafeMutableRawPointer) {
      unsafeBitCast(job, to: UnownedJob.self).runSynchronously(on: asUnownedTaskExecutor())
    }
  }
#endif
