/// Time in the background, which the application has asked for to finish its work.
///
/// Call ``end()`` exactly once. A second call is reported (`taskEndedTwice:NAME`) and has no other effect. A task that is
/// released without ``end()`` stays open, as on the platform: its time runs out, and the application is purged with a report
/// (`backgroundTimeExpired:NAME`). A task ends by itself only with the process.
@MainActor public final class BackgroundTask {
  /// The task's name in records and reports.
  public let name: String

  private let id: BackgroundTimeStateMachine.TaskID
  private weak let manager: BackgroundTaskManager?

  init(name: String, id: BackgroundTimeStateMachine.TaskID, manager: BackgroundTaskManager) {
    (self.name, self.id, self.manager) = (name, id, manager)
  }

  /// Ends the task: the application needs its time no longer.
  ///
  /// When the last task has ended, and the stay in the background has lasted its time, the application is suspended. The call
  /// has no effect on a task of an earlier process, which ended with that process.
  public func end() { manager?.end(id, name: name) }
}
