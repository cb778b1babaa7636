import AppLifecycle

// The rules of scenes: in which order they take which steps, what each is told, and when the application follows.

extension LifecycleRules {
  /// What is known of the scenes, and of the input that is being watched.
  struct Scenes: Hashable {
    /// One connected scene, and what it was told.
    struct Scene: Hashable {
      let id: SceneIdentifier
      var state = SceneState.unattached
      var isToldForeground = false
      var isToldActive = false
      var hasFocus = true
    }

    /// A change of the focus.
    struct Focus: Hashable {
      let id: SceneIdentifier
      let hasFocus: Bool
    }

    /// What a scene does between two states; those that lead to the front in their order, then those that lead away.
    enum Step: Int, Hashable, CaseIterable {
      case connect, enterForeground, activate
      case resign, leaveForeground, disconnect

      var leadsToFront: Bool { rawValue < Step.resign.rawValue }
    }

    /// In the order in which they connected.
    var connected: [Scene] = []
    /// Those that the lock sent away, and that were not closed since.
    var sentAwayByLock: Set<SceneIdentifier> = []

    // What the present input has to lead to, and how far it is; empty between inputs.
    var expectedForeground: Set<SceneIdentifier> = []
    var expectedConnected: Set<SceneIdentifier> = []
    var stepsTaken: [Step] = []
    var present: Step?
    /// The scene whose focus the input changes, and how.
    var expectedFocus: Focus?
    /// The scenes that may take the present step, in the order in which they have to.
    var queue: [SceneIdentifier] = []

    var inForeground: Set<SceneIdentifier> { Set(connected.filter(\.state.isForeground).map(\.id)) }

    /// The state of an application whose most active scene is as the most active one of these.
    var aggregate: ApplicationState {
      if connected.contains(where: { $0.state == .foregroundActive }) { return .active }
      return connected.contains { $0.state == .foregroundInactive } ? .inactive : .background
    }

    func index(of id: SceneIdentifier) -> Int? { connected.firstIndex { $0.id == id } }

    mutating func forgetProcess() { (connected, sentAwayByLock) = ([], []) }

    mutating func endStep() { present = nil }

    mutating func begin(_ input: LifecycleInput) {
      expectedForeground = inForeground
      expectedConnected = Set(connected.map(\.id))
      switch input {
      case .system(.launch): (expectedForeground, expectedConnected) = ([.main], [.main])
      case .system(.open), .system(.openScene):
        var opened = SceneIdentifier.main
        if case .system(.openScene(let id)) = input { opened = id }
        expectedForeground.insert(opened)
        expectedConnected.insert(opened)
      case .system(.home), .device(.leaveThroughSwitcher): expectedForeground = []
      case .system(.lock): (sentAwayByLock, expectedForeground) = (inForeground, [])
      case .system(.unlock):
        expectedForeground.formUnion(sentAwayByLock)
        expectedConnected.formUnion(sentAwayByLock)
        sentAwayByLock = []
      case .system(.connectScene(let id)): expectedConnected.insert(id)
      case .system(.sendSceneToBackground(let id)): expectedForeground.remove(id)
      case .system(.focusScene(let id)): expectedFocus = Focus(id: id, hasFocus: true)
      case .system(.unfocusScene(let id)): expectedFocus = Focus(id: id, hasFocus: false)
      case .system(.reclaimScene(let id)): expectedConnected.remove(id)
      case .system(.closeScene(let id)):
        expectedForeground.remove(id)
        expectedConnected.remove(id)
        sentAwayByLock.remove(id)
      case .system(.terminate), .system(.shutDown), .device(.killFromSwitcher), .device(.crash), .device(.purge),
        .device(.reclaim), .device(.reboot):
        (expectedForeground, expectedConnected) = ([], [])
      default: break
      }
    }

    mutating func end() {
      (expectedForeground, expectedConnected, stepsTaken, present, queue) = ([], [], [], nil, [])
      expectedFocus = nil
    }
  }
}

// MARK: - Which inputs have to be ignored

extension LifecycleRules {
  func isImpossibleForScene(_ input: SystemInput) -> Bool {
    guard profile == .scenes else { return true }
    func isConnected(_ id: SceneIdentifier) -> Bool { scenes.index(of: id) != nil }
    switch input {
    case .connectScene(let id): return !state.runsCode || isConnected(id)
    case .openScene(let id): return isLocked || scenes.inForeground.contains(id)
    case .sendSceneToBackground(let id): return !scenes.inForeground.contains(id)
    case .focusScene(let id): return scenes.connected.first { $0.id == id }?.hasFocus ?? true
    case .unfocusScene(let id): return !(scenes.connected.first { $0.id == id }?.hasFocus ?? false)
    case .reclaimScene(let id): return !state.runsCode || !isConnected(id) || scenes.inForeground.contains(id)
    case .closeScene(let id): return !state.runsCode || !isConnected(id)
    default: return false
    }
  }

  func stateWithScenes(after input: LifecycleInput, from before: ApplicationState) -> ApplicationState {
    switch input {
    case .system(.terminate), .system(.shutDown), .device(.killFromSwitcher), .device(.crash), .device(.purge),
      .device(.reclaim), .device(.reboot):
      .notRunning
    case _ where !scenes.expectedForeground.isEmpty: standingReasons.isEmpty ? .active : .inactive
    case .system(.launchInBackground), .system(.fetch), .system(.wake): .background
    case .system(.suspend): .suspended
    default: before.isForeground ? .background : before
    }
  }
}

// MARK: - Focus

extension LifecycleRules {
  mutating func changeFocus(
    of id: SceneIdentifier, to hasFocus: Bool, after input: LifecycleInput, _ violations: inout Violations
  ) {
    violations.check(
      scenes.expectedFocus == Scenes.Focus(id: id, hasFocus: hasFocus), "\(id.rawValue): focus \(hasFocus) from nowhere"
    )
    scenes.expectedFocus = nil
    if let index = scenes.index(of: id) { scenes.connected[index].hasFocus = hasFocus }
  }
}

// MARK: - Steps

extension LifecycleRules {
  private mutating func take(_ step: Scenes.Step, _ id: SceneIdentifier, _ violations: inout Violations) {
    violations.check(state.runsCode, "\(step) of \(id.rawValue) while \(state)")
    violations.check(hasLaunched && !isTerminating, "\(step) of \(id.rawValue) before the launch or after the end")
    if scenes.present != step {
      violations.check(state == scenes.aggregate, "\(step) while \(state), beside scenes that are \(scenes.aggregate)")
      if let last = scenes.stepsTaken.last {
        violations.check(last.rawValue < step.rawValue, "\(step) after \(last)")
        violations.check(last.leadsToFront == step.leadsToFront, "\(step) after \(last)")
      }
      scenes.stepsTaken.append(step)
      scenes.present = step
      scenes.queue = scenes.connected.map(\.id)
    }
    // A scene that connects is the last to have connected, whichever it is.
    guard step != .connect else { return }
    guard let place = scenes.queue.firstIndex(of: id) else {
      violations.check(false, "\(step) of \(id.rawValue) out of turn")
      return
    }
    // A scene that stands before it has let its turn pass.
    scenes.queue.removeFirst(place + 1)
  }

  mutating func commitScene(
    _ id: SceneIdentifier, _ next: SceneState, previous: LifecycleStateMachine.Effect?,
    next following: LifecycleStateMachine.Effect?, _ violations: inout Violations
  ) {
    guard let index = scenes.index(of: id) else {
      violations.check(false, "\(id.rawValue) is not connected")
      return
    }
    let before = scenes.connected[index].state
    func follows(_ callback: SceneCallback) -> Bool { previous == .callScene(id, callback) }
    func precedes(_ callback: SceneCallback) -> Bool { following == .callScene(id, callback) }
    var step: Scenes.Step?
    switch (before, next) {
    case (.unattached, .background): violations.check(follows(.willConnect), "connected unannounced")
    case (.unattached, .foregroundInactive), (.background, .foregroundInactive):
      violations.check(follows(.willEnterForeground), "in the foreground unannounced")
    case (.foregroundActive, .foregroundInactive): violations.check(follows(.willResignActive), "resigned unannounced")
    case (.foregroundInactive, .foregroundActive):
      step = .activate
      violations.check(precedes(.didBecomeActive), "active untold")
    case (.foregroundInactive, .background):
      step = .leaveForeground
      violations.check(precedes(.didEnterBackground), "in the background untold")
    case (.background, .unattached):
      step = .disconnect
      violations.check(precedes(.didDisconnect), "disconnected untold")
    default: violations.check(false, "\(id.rawValue): \(before) does not lead to \(next)")
    }
    // What is told after the change begins with the change.
    if let step { take(step, id, &violations) }
    scenes.connected[index].state = next
  }

  mutating func callScene(
    _ id: SceneIdentifier, _ callback: SceneCallback, previous: LifecycleStateMachine.Effect?,
    next: LifecycleStateMachine.Effect?, _ violations: inout Violations
  ) {
    if callback == .willConnect {
      take(.connect, id, &violations)
      violations.check(scenes.index(of: id) == nil, "\(id.rawValue) is connected twice")
      scenes.connected.append(Scenes.Scene(id: id))
      return
    }
    guard let index = scenes.index(of: id) else {
      violations.check(false, "\(callback.rawValue): \(id.rawValue) is not connected")
      return
    }
    let scene = scenes.connected[index]
    let place = "\(callback.rawValue) (\(id.rawValue)) while \(scene.state)"
    switch callback {
    case .willConnect: break
    case .willEnterForeground:
      take(.enterForeground, id, &violations)
      violations.check(scene.state == .background || scene.state == .unattached, place)
      violations.check(!scene.isToldForeground && next == .commitScene(id, .foregroundInactive), place)
      scenes.connected[index].isToldForeground = true
    case .didBecomeActive:
      violations.check(previous == .commitScene(id, .foregroundActive) && announcedReasons.isEmpty, place)
      violations.check(scene.isToldForeground && !scene.isToldActive, place)
      scenes.connected[index].isToldActive = true
    case .willResignActive:
      take(.resign, id, &violations)
      violations.check(scene.state == .foregroundActive && scene.isToldActive, place)
      violations.check(next == .commitScene(id, .foregroundInactive), place)
      scenes.connected[index].isToldActive = false
    case .didEnterBackground:
      violations.check(previous == .commitScene(id, .background), place)
      violations.check(scene.isToldForeground && !scene.isToldActive, place)
      scenes.connected[index].isToldForeground = false
    case .didDisconnect:
      violations.check(previous == .commitScene(id, .unattached), place)
      violations.check(!scene.isToldForeground && !scene.isToldActive, place)
      scenes.connected.remove(at: index)
    }
  }
}

// MARK: - What an input leads to

extension LifecycleRules {
  mutating func checkScenes(
    after effects: [LifecycleStateMachine.Effect], of input: LifecycleInput, from before: ApplicationState,
    to after: LifecycleStateMachine, _ violations: inout Violations
  ) {
    violations.check(
      after.scenes == scenes.connected.map(\.id)
        && scenes.connected.allSatisfy { after.state(of: $0.id) == $0.state },
      "the machine has \(after.scenes), its effects say \(scenes.connected)")
    violations.check(
      scenes.inForeground == scenes.expectedForeground,
      "in the foreground \(scenes.inForeground), not \(scenes.expectedForeground)")
    violations.check(
      Set(scenes.connected.map(\.id)) == scenes.expectedConnected, "connected: not \(scenes.expectedConnected)")
    violations.check(!state.runsCode || profile == .application || state == scenes.aggregate, "not the aggregate")
    violations.check(scenes.expectedFocus == nil, "the focus has not changed")
    violations.check(scenes.connected.allSatisfy { after.hasFocus($0.id) == $0.hasFocus }, "the focus is elsewhere")
    violations.check(profile == .scenes || scenes.connected.isEmpty, "an application without scenes has some")
    for scene in scenes.connected {
      violations.check(
        scene.isToldForeground == scene.state.isForeground && scene.isToldActive == (scene.state == .foregroundActive),
        "\(scene.id.rawValue) knows it otherwise")
      violations.check(scene.state != .unattached, "\(scene.id.rawValue) is half connected")
      if scene.state.isForeground {
        violations.check(
          (scene.state == .foregroundActive) == (standingReasons.isEmpty && scene.hasFocus), "\(scene) with reasons")
      }
    }
    let sessionsEnd = effects.contains { if case .endSession = $0 { true } else { false } }
    let closes = if case .system(.closeScene) = input { true } else { false }
    violations.check(sessionsEnd == closes, "a session ends exactly with its window")
    checkAwaiting(in: effects, &violations)
    scenes.end()
  }

  /// What a scene sets going when it leaves is awaited once, after all of them, and before one is disconnected.
  private func checkAwaiting(in effects: [LifecycleStateMachine.Effect], _ violations: inout Violations) {
    let leaving = effects.indices.filter { effects[$0].isCall(.didEnterBackground) }
    guard let last = leaving.last else { return }
    let awaiting = effects.indices.filter { effects[$0] == .awaitTearDown(of: .didEnterBackground) }
    violations.check(
      awaiting.count == 1 && awaiting[0] > last, "what scenes set going is awaited after the last of them")
    let disconnecting = effects.indices.first { effects[$0].isCall(.didDisconnect) } ?? effects.endIndex
    violations.check(awaiting.allSatisfy { $0 < disconnecting }, "disconnected before what it set going has ended")
  }
}

extension LifecycleStateMachine.Effect {
  fileprivate func isCall(_ callback: SceneCallback) -> Bool {
    if case .callScene(_, callback) = self { true } else { false }
  }
}
