// The inputs that the current state ignores, and the reasons.

extension LifecycleStateMachine {
  func reasonToIgnore(_ input: LifecycleInput) -> IgnoredReason? {
    if profile == .application, input.traits.contains(.isOfOneScene) { return .noScenes }
    if device.isLocked, input.traits.contains(.needsUnlockedScreen) { return .screenLocked }
    return switch input {
    case .system(let input): reasonToIgnore(input)
    case .device(let input): reasonToIgnore(input)
    }
  }

  private func reasonToIgnore(_ input: SystemInput) -> IgnoredReason? {
    switch input {
    case .launch, .launchInBackground: return state.isInMemory ? .alreadyRunning : nil
    case .open:
      // With scenes another window may be in the foreground while the main one is not.
      let isInForeground = profile == .scenes ? state(of: .main).isForeground : state.isForeground
      return isInForeground ? .alreadyInForeground : nil
    case .home: return state.isForeground ? nil : .notInForeground
    case .lock: return device.isLocked ? .alreadyLocked : nil
    case .unlock: return device.isLocked ? nil : .notLocked
    case .setPasscode: return nil
    case .beginInterruption(let reason): return device.interruptions.contains(reason) ? .alreadyInterrupted : nil
    case .endInterruption(let reason): return device.interruptions.contains(reason) ? nil : .notInterrupted
    case .terminate, .shutDown, .significantTimeChange: return state.isInMemory ? nil : .notRunning
    case .memoryWarning: return reasonNotToRunCode
    case .fetch: return state.runsCode ? .alreadyAwake : nil
    case .wake:
      if state.runsCode { return .alreadyAwake }
      return state.isInMemory ? nil : .notRunning
    case .suspend: return state == .background ? nil : .notInBackground
    case .connectScene(let id): return reasonNotToRunCode ?? (process.scenes[id] == nil ? nil : .sceneConnected)
    case .openScene(let id): return state(of: id).isForeground ? .sceneInForeground : nil
    case .sendSceneToBackground(let id):
      return reasonNotToReach(id) ?? (state(of: id).isForeground ? nil : .sceneNotInForeground)
    case .unfocusScene(let id):
      return reasonNotToKnow(id) ?? (process.scenes.hasFocus(id) ? nil : .sceneUnfocused)
    case .focusScene(let id):
      return reasonNotToKnow(id) ?? (process.scenes.hasFocus(id) ? .sceneFocused : nil)
    case .reclaimScene(let id): return reasonNotToReach(id) ?? (state(of: id).isForeground ? .sceneInForeground : nil)
    case .closeScene(let id): return reasonNotToReach(id)
    }
  }

  private func reasonToIgnore(_ input: DeviceInput) -> IgnoredReason? {
    switch input {
    case .openSwitcher:
      if !state.isForeground { return .notInForeground }
      return process.switcherIsOpen ? .switcherOpen : nil
    case .returnFromSwitcher, .leaveThroughSwitcher: return process.switcherIsOpen ? nil : .switcherClosed
    case .killFromSwitcher, .crash, .purge: return state.isInMemory ? nil : .notRunning
    case .reclaim: return state == .suspended ? nil : .notSuspended
    case .reboot: return nil
    }
  }

  private var reasonNotToRunCode: IgnoredReason? {
    switch state {
    case .notRunning: .notRunning
    case .suspended: .suspended
    case .inactive, .active, .background: nil
    }
  }

  /// A suspended application runs no callbacks of its scenes, so their states cannot change.
  private func reasonNotToReach(_ id: SceneIdentifier) -> IgnoredReason? {
    reasonNotToRunCode ?? (process.scenes[id] == nil ? .unknownScene : nil)
  }

  /// A change of the focus alone calls no code of the program, so a suspended application accepts it.
  private func reasonNotToKnow(_ id: SceneIdentifier) -> IgnoredReason? {
    if !state.isInMemory { return .notRunning }
    return process.scenes[id] == nil ? .unknownScene : nil
  }
}
