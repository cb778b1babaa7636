/// Time in the background that the application has asked for, to finish something.
///
/// It must be ended, exactly once: by ``end()``. Ending it a second time is reported (`taskEndedTwice:NAME`) and has no other
/// effect. One that is released without having been ended stays open, as on the platform: its time runs out, and the
/// application is purged with a report that names it (`backgroundTimeExpired:NAME`). It ends by itself only with the process.
@MainActor public final class BackgroundTask {
  /// The name that records and reports call it.
  public let name: String

  private let id: BackgroundTime.TaskID
  private weak let manager: BackgroundTaskManager?

  init(name: String, id: BackgroundTime.TaskID, manager: BackgroundTaskManager) {
    (self.name, self.id, self.manager) = (name, id, manager)
  }

  /// Ends the task: the time that it asked for is not needed any more.
  ///
  /// When the last one has ended, and the stay in the background has lasted its time, the application is suspended.
  /// A task of a process that has vanished went with it: ending it has no effect.
  public func end() { manager?.end(id, name: name) }
}
