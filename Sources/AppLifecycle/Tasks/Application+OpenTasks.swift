extension Application {
  /// The tasks that ``task(label:fileID:line:_:)`` and its kin have started and that have not ended, in the order in which they
  /// began: the label of each, or the position in the source.
  ///
  /// A task that was cancelled with its process is in here until it has ended. One that stays ignores its cancellation.
  ///
  /// - Complexity: O(*n* log *n*) in their number.
  public var openTasks: [String] { ownTasks.names }

  /// The names of the background tasks that have been begun and not ended, in order of begin.
  ///
  /// - Complexity: linear in their number.
  public var openBackgroundTasks: [String] { background.openTasks }
}
