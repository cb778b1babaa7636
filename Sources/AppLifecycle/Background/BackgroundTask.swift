extension Application {
  /// A request for time in the background, with which an application finishes its work.
  ///
  /// Call ``end()`` exactly once. A second call is reported (`taskEndedTwice:NAME`) and has no other effect. A task that
  /// is released without ``end()`` stays open, as on the platform. When its time is over, a simulated system purges the
  /// application with a report (`backgroundTimeExpired:NAME`). A task ends by itself only with the process.
  @MainActor public final class BackgroundTask {
    /// The task's name in records and reports.
    public let name: String

    private let id: BackgroundTimeStateMachine.TaskID
    private weak let manager: BackgroundTaskManager?

    init(name: String, id: BackgroundTimeStateMachine.TaskID, manager: BackgroundTaskManager) {
      (self.name, self.id, self.manager) = (name, id, manager)
    }

    /// Ends the task, because the application no longer needs the time.
    ///
    /// When the last task has ended and ``Application/Configuration/backgroundStay`` has passed, a simulated system
    /// suspends the application. The call has no effect on a task of an earlier process, because that task ended with its
    /// process.
    public func end() { manager?.end(id, name: name) }
  }
}
