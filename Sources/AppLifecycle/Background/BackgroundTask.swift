extension Application {
  /// A request for time in the background, with which an application finishes its work.
  ///
  /// Call ``end()`` exactly once; any thread may call it. A second call is reported (`taskEndedTwice:NAME`) and has no
  /// other effect. A task that is released without ``end()`` stays open, as on the platform. When its time is over, a
  /// simulated system purges the application with a report (`backgroundTimeExpired:NAME`). A task ends by itself only
  /// with the process.
  public final class BackgroundTask: Sendable {
    /// The task's name in records and reports.
    package let name: String
    /// Whether the application refused the task when it began, so that it gives no time.
    public let wasRefused: Bool

    /// The number of the task among those of its application, from 0, for names of a platform that identify tasks by numbers.
    package let number: Int
    private weak let manager: BackgroundTaskManager?

    init(name: String, _ begun: BackgroundTasks.Begun, manager: BackgroundTaskManager) {
      (self.name, wasRefused, number, self.manager) = (name, begun.isRefused, begun.id, manager)
    }

    /// Ends the task, because the application no longer needs the time; any thread may call it.
    ///
    /// The task has ended when the method returns. If the caller is not on the main actor, observers and the ledger learn
    /// of it soon after, in the order of the calls.
    ///
    /// When the last task has ended and ``Application/Configuration/backgroundStay`` has passed, a simulated system
    /// suspends the application. The call has no effect on a task of an earlier process, because that task ended with its
    /// process.
    public func end() { manager?.end(number, name: name) }
  }
}
