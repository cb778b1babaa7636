extension Application {
  /// The scenes that are connected, or are just being connected, in the order in which they connected.
  ///
  /// Empty in the app-based life cycle. Observable.
  public var scenes: [Scene] {
    observed.access(self, \.scenes)
    return sceneDirectory.connected
  }

  /// The sessions of all windows that were not closed, in the order in which they first connected, with or without a connected
  /// scene.
  public var openSessions: [SceneSession] { sceneDirectory.sessions }
}
