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
      DispatchQueue.global().async { Self.shared.run(job) }
    }

    /// Runs a job that was deferred.
    func run(_ job: UnsafeMutableRawPointer) { run(unsafeBitCast(job, to: UnownedJob.self)) }

    private func run(_ job: UnownedJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
#endif
