internal import PubSub

// What the state machine decided about scenes, performed.

extension Application {
  /// The scenes that are connected or about to be connected, in the order of their connection.
  ///
  /// Empty in the app-based life cycle. Observable.
  public var scenes: [Scene] {
    observed.access(self, \.scenes)
    return sceneDirectory.connected
  }

  /// The sessions of all windows that have not been closed, with or without a connected scene, in the order of their
  /// first connection.
  public var openSessions: [SceneSession] { sceneDirectory.sessions }

  /// Connects the scene if it is about to be, calls its delegate, and posts its notification.
  func callScene(
    _ id: SceneIdentifier, _ callback: SceneCallback, rest: ArraySlice<LifecycleStateMachine.Effect>,
    cause: LifecycleCause
  ) {
    guard let scene = callback == .willConnect ? connectScene(id) : sceneDirectory[id] else { return }
    // One budget covers all scenes of a step.
    if callback == .didEnterBackground { tearDown.beginBudget(of: .didEnterBackground) }
    let row = callback.row
    record(.delegate, callback.rawValue, cause, scene: id)
    measure(callback.rawValue, of: id) { row.callDelegate(scene) }
    if let name = row.notificationName { record(.notification, name, cause, scene: id) }
    let step = transition(row.commit, of: scene, rest: rest, cause: cause)
    row.post(scene, step, self, callback.rawValue, row.phase.closing)
    if callback == .didDisconnect { sceneDirectory.forget(scene) }
  }

  func commitScene(_ id: SceneIdentifier, _ state: SceneState) {
    guard let scene = sceneDirectory[id] else { return }
    scene.setState(state)
    if state == .unattached { observed.change(self, \.scenes) { sceneDirectory.disconnect(scene) } }
  }

  /// The process vanishes, and its scenes with it; no delegate is called.
  func loseScenes() {
    guard !sceneDirectory.connected.isEmpty else { return }
    var lost: [Scene] = []
    observed.change(self, \.scenes) { lost = sceneDirectory.loseProcess() }
    // Observers of a scene's state may read the application's scenes.
    for scene in lost { scene.loseProcess() }
  }

  private func connectScene(_ id: SceneIdentifier) -> Scene {
    var connected: Scene?
    observed.change(self, \.scenes) { connected = sceneDirectory.connect(id, of: self) }
    let scene = connected!
    scene.delegate = delegate.application(self, delegateFor: scene)
    return scene
  }

  /// From where to where a callback's step goes.
  private func transition(
    _ order: CommitOrder, of scene: Scene, rest: ArraySlice<LifecycleStateMachine.Effect>, cause: LifecycleCause
  ) -> SceneTransition {
    let (from, to) =
      switch order {
      case .callbackFirst: (scene.lastChange.to, rest.firstCommittedState(of: scene.identifier) ?? scene.lastChange.to)
      case .commitFirst: scene.lastChange
      case .noCommit: (scene.lastChange.to, scene.lastChange.to)
      }
    return SceneTransition(from: from, to: to, cause: cause, instant: timing.now())
  }
}

extension ArraySlice<LifecycleStateMachine.Effect> {
  fileprivate func firstCommittedState(of scene: SceneIdentifier) -> SceneState? {
    for case .commitScene(scene, let state) in self { return state }
    return nil
  }
}
