extension Application {
  /// The scenes that are connected or about to be connected, in the order of their connection.
  ///
  /// Empty in the app-based life cycle. Observable.
  public var scenes: [Application.Scene] {
    present.observed.access(self, \.scenes)
    return sceneDirectory.connected
  }

  /// The sessions of all windows that have not been closed, with or without a connected scene, in the order of their
  /// first connection.
  @preconcurrency public var openSessions: [SceneSession] { sceneDirectory.sessions }
}
