// The steps of the life cycle, for both profiles. With scenes, all scenes that a step concerns take it, in the order in
// which they connected. The application follows if the state of its most active scene has changed. Without scenes, the
// application takes the step alone.

extension LifecycleStateMachine {
  /// Brings these scenes and the application to the foreground, and makes them active if no deactivation reason stands;
  /// connects a scene that is not connected.
  mutating func enterForeground(_ entering: [SceneIdentifier]) {
    if state == .suspended { commit(.background) }
    tellOfDataProtection()
    for id in entering where process.scenes[id] == nil { connect(id) }
    let entering = Set(entering)
    for id in process.scenes.identifiers where entering.contains(id) {
      callScene(id, .willEnterForeground)
      commitScene(id, .foregroundInactive)
    }
    if state == .background {
      tellOfForeground(.willEnterForeground)
      commit(.inactive)
      tellOfKeptTimeChange()
    }
    activateIfNoReasonStands()
  }

  mutating func activateIfNoReasonStands() {
    process.isLaunching = false
    guard deactivationReasons.isEmpty, state.isForeground else { return }
    for id in process.scenes.inForeground
    where process.scenes[id] == .foregroundInactive && process.scenes.hasFocus(id) {
      commitScene(id, .foregroundActive)
      callScene(id, .didBecomeActive)
    }
    guard state == .inactive else { return }
    commit(.active)
    tellOfForeground(.didBecomeActive)
  }

  /// Makes scenes resign active; the application resigns with the last active scene.
  mutating func resign(_ resigning: [SceneIdentifier]) {
    for id in resigning where process.scenes[id] == .foregroundActive {
      callScene(id, .willResignActive)
      commitScene(id, .foregroundInactive)
    }
    guard state == .active, !process.scenes.contains(.foregroundActive) else { return }
    tellOfForeground(.willResignActive)
    commit(.inactive)
  }

  /// Sends scenes to the background, and the application with the last scene of the foreground; scenes in the
  /// background stay there.
  mutating func leaveForeground(_ leaving: [SceneIdentifier]) {
    let inForeground = process.scenes.inForeground
    let leaving = inForeground.filter(Set(leaving).contains)
    // An application in the background has no switcher over it.
    if leaving.count == inForeground.count { process.switcherIsOpen = false }
    resign(leaving)
    for id in leaving {
      commitScene(id, .background)
      callScene(id, .didEnterBackground)
    }
    let applicationLeaves = state.isForeground && !process.scenes.hasForeground
    if applicationLeaves {
      commit(.background)
      tellOfForeground(.didEnterBackground)
    }
    // Await the handlers of a scene's notification even if the application stays in the foreground: the scene may be
    // disconnected next.
    if applicationLeaves || !leaving.isEmpty { effects.append(.awaitTearDown(of: .didEnterBackground)) }
  }

  mutating func connect(_ id: SceneIdentifier) {
    process.scenes.connect(id)
    callScene(id, .willConnect)
  }

  mutating func disconnect(_ disconnecting: [SceneIdentifier]) {
    for id in disconnecting {
      commitScene(id, .unattached)
      callScene(id, .didDisconnect)
    }
  }

  /// Tells an application that runs in the background whether protected files are readable, if that differs from what
  /// it knows.
  mutating func tellOfDataProtection() {
    guard state == .background, process.knowsThatDataIsProtected != device.dataIsProtected else { return }
    process.knowsThatDataIsProtected = device.dataIsProtected
    call(device.dataIsProtected ? .protectedDataWillBecomeUnavailable : .protectedDataDidBecomeAvailable)
  }

  /// Tells of the time changes that came while the application was suspended, however many, by one call.
  mutating func tellOfKeptTimeChange() {
    guard process.keepsTimeChange else { return }
    process.keepsTimeChange = false
    call(.significantTimeChange)
  }
}

// MARK: - Effects

extension LifecycleStateMachine {
  mutating func commit(_ state: ApplicationState) {
    announceReasons()
    self.state = state
    effects.append(.commit(state))
  }

  mutating func call(_ callback: ApplicationCallback) {
    announceReasons()
    effects.append(.call(callback))
  }

  /// Calls the application's delegate without scenes; with scenes only posts the notification, because the delegates of
  /// the scenes have been called.
  mutating func tellOfForeground(_ callback: ApplicationCallback) {
    announceReasons()
    effects.append(profile == .scenes ? .post(callback) : .call(callback))
  }

  mutating func commitScene(_ id: SceneIdentifier, _ state: SceneState) {
    announceReasons()
    if state == .unattached { process.scenes.disconnect(id) } else { process.scenes.set(state, of: id) }
    effects.append(.commitScene(id, state))
  }

  mutating func setFocus(_ hasFocus: Bool, of id: SceneIdentifier) {
    process.scenes.setFocus(hasFocus, of: id)
    effects.append(.setSceneFocus(id, hasFocus))
  }

  mutating func callScene(_ id: SceneIdentifier, _ callback: SceneCallback) {
    announceReasons()
    effects.append(.callScene(id, callback))
  }

  /// Updates the reasons before the callbacks to which they lead, so that these callbacks can read them.
  mutating func announceReasons() {
    guard announcedReasons != deactivationReasons else { return }
    announcedReasons = deactivationReasons
    effects.append(.setDeactivationReasons(announcedReasons))
  }
}
