#if MQTT
  import CMosquitto
  import Dispatch

  /// Begins tasks on the thread of a connection, where that saves the wake of a further one; all other jobs run on the global pool.
  ///
  /// A task that is started while a connection's thread reads begins there, once that has read: so it posts what has arrived. One that is started in
  /// ``MQTTConnection/preferring(_:)`` begins on that connection's thread, which will hear of the broker's answer, too.
  final class ConnectionThreadExecutor: TaskExecutor {
    static let shared = ConnectionThreadExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
      let job = unsafeBitCast(UnownedJob(job), to: UnsafeMutableRawPointer.self)
      if !mqtt_defer(job) { runInPool(job) }
    }

    /// Runs a job that was deferred.
    func run(_ job: UnsafeMutableRawPointer) {
      unsafeBitCast(job, to: UnownedJob.self).runSynchronously(on: asUnownedTaskExecutor())
    }

    func runInPool(_ job: UnsafeMutableRawPointer) {
      let job = unsafeBitCast(job, to: UnownedJob.self)
      DispatchQueue.global().async { job.runSynchronously(on: Self.shared.asUnownedTaskExecutor()) }
    }
  }
#endif
