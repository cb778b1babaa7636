// The effects on scenes.

extension TransitionRun {
  /// Calls the scene's delegate, and posts its notification; connects the scene first if the callback is `willConnect`.
  func callScene(
    _ id: SceneIdentifier, _ callback: SceneCallback, rest: ArraySlice<LifecycleStateMachine.Effect>
  ) {
    guard let scene = callback == .willConnect ? connectScene(id) : application.sceneDirectory[id] else { return }
    // One budget covers all scenes of a step.
    if callback == .didEnterBackground { application.tearDown.beginBudget(of: .didEnterBackground) }
    let row = callback.row
    application.record(.delegate, callback.rawValue, cause, scene: id)
    application.measure(callback.rawValue, of: id) { row.callDelegate(scene) }
    if let name = row.notificationName { application.record(.notification, name, cause, scene: id) }
    let step = step(row.commit, of: scene, rest: rest)
    row.post(scene, step, application, callback.rawValue, row.phase.closing)
    if callback == .didDisconnect { application.sceneDirectory.forget(scene) }
  }

  /// Changes a scene's state; an unattached scene is removed from the connected scenes.
  func commitScene(_ id: SceneIdentifier, _ state: SceneState) {
    guard let scene = application.sceneDirectory[id] else { return }
    scene.setState(state)
    if state == .unattached {
      application.present.observed.change(application, \.scenes) { application.sceneDirectory.disconnect(scene) }
    }
  }

  /// Removes all scenes, because the process has vanished; no delegate is called.
  func loseScenes() {
    guard !application.sceneDirectory.connected.isEmpty else { return }
    var lost: [Application.Scene] = []
    application.present.observed.change(application, \.scenes) { lost = application.sceneDirectory.loseProcess() }
    // Observers of a scene's state may read the application's scenes.
    for scene in lost { scene.loseProcess() }
  }

  private func connectScene(_ id: SceneIdentifier) -> Application.Scene {
    var connected: Application.Scene?
    application.present.observed.change(application, \.scenes) {
      connected = application.sceneDirectory.connect(id, of: application)
    }
    let scene = connected!
    scene.delegate = application.callDelegate("application(_:delegateFor:)") {
      application.delegate.application(application, delegateFor: scene)
    }
    return scene
  }

  /// Describes a callback's step for its notification: its states, its cause and its time.
  private func step(
    _ order: CommitOrder, of scene: Application.Scene, rest: ArraySlice<LifecycleStateMachine.Effect>
  ) -> SceneTransition {
    let (from, to) =
      switch order {
      case .callbackFirst: (scene.lastChange.to, rest.firstCommittedState(of: scene.identifier) ?? scene.lastChange.to)
      case .commitFirst: scene.lastChange
      case .noCommit: (scene.lastChange.to, scene.lastChange.to)
      }
    return SceneTransition(from: from, to: to, cause: cause, instant: application.instant)
  }
}

extension ArraySlice<LifecycleStateMachine.Effect> {
  fileprivate func firstCommittedState(of scene: SceneIdentifier) -> SceneState? {
    for case .commitScene(scene, let state) in self { return state }
    return nil
  }
}
