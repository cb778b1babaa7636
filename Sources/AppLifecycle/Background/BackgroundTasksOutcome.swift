/// The end of a wait for open background tasks; see ``Application/finishBackgroundTasks(within:cause:)``.
package enum BackgroundTasksOutcome: Sendable, Hashable {
  /// The application is in the background, and no task is open.
  case finished
  /// The budget has passed; the names are those of the tasks that are still open, in the order in which they began.
  case timedOut(open: [String])
  /// The application is not in the background: it has returned to the foreground, is suspended, or does not run.
  case notInBackground
  /// ``Application/stopFinishingBackgroundTasks()`` has ended the wait.
  case stopped

  /// The names of the tasks that are still open after their time, in the order in which they began.
  package var open: [String] { if case .timedOut(let names) = self { names } else { [] } }
}
