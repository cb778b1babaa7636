#if MQTT
  import CMosquitto

  /// Work for the thread of a connection, where that saves the wake of a further one.
  ///
  /// The thread begins it as soon as it has read what there is. So it posts what has arrived; and it sends what was posted, as it will hear of
  /// the broker's answer, too.
  final class ConnectionJob: Sendable {
    private let body: @Sendable (_ isOnThread: Bool) -> Void

    /// - Parameter body: the work; or, if it is not on the connection's thread, which ends, what has it done elsewhere.
    init(_ body: @escaping @Sendable (_ isOnThread: Bool) -> Void) { self.body = body }

    /// Gives the job to the thread that calls, if it reads for a connection, or else to that of the preferred connection.
    ///
    /// Returns false if there is no such thread, or it has a job already.
    func start(preferring connection: MQTTConnection?) -> Bool {
      let job = Unmanaged.passRetained(self)
      if MQTTConnection.accept(job.toOpaque(), connection) { return true }
      job.release()
      return false
    }

    /// Prepares the thread for code of the program, which may write to a pipe; without effect in other places than a job.
    static func enterProgram() { mqtt_enter_program() }

    /// Runs a job that a connection has accepted, once.
    static func run(_ job: UnsafeMutableRawPointer, onThread isOnThread: Bool) {
      Unmanaged<ConnectionJob>.fromOpaque(job).takeRetainedValue().body(isOnThread)
    }
  }
#endif
