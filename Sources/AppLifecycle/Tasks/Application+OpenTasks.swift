extension Application {
  /// The names of the tasks that the `task` methods have started and that have not ended, in the order in which they
  /// began.
  ///
  /// A name is the label of the task, or the position in the source. See ``task(label:fileID:line:_:)``.
  ///
  /// A task that was cancelled with its process is listed until it has ended. A task that stays in the list ignores its
  /// cancellation.
  ///
  /// - Complexity: O(*n* log *n*) in their number.
  package var openTasks: [String] { ownTasks.names }

  /// The names of the background tasks that have begun and not ended, in the order in which they began.
  ///
  /// Any thread may read it.
  ///
  /// - Complexity: linear in their number.
  package nonisolated var openBackgroundTasks: [String] { background.openTasks }
}
