// The effect of each input, in steps of the life cycle.

extension LifecycleStateMachine {
  mutating func perform(_ input: LifecycleInput) {
    switch input {
    case .system(let input): perform(input)
    case .device(let input): perform(input)
    }
  }

  private mutating func perform(_ input: SystemInput) {
    switch input {
    case .launch: launch(opening: .main)
    case .launchInBackground: launchInBackground()
    case .open: open(.main)
    case .home: leaveForeground(process.scenes.inForeground)
    case .lock: lock()
    case .unlock: unlock()
    case .setPasscode(let isOn): device.lockProtectsData = isOn
    case .beginInterruption(let reason):
      device.interruptions.insert(reason)
      resign(process.scenes.inForeground)
    case .endInterruption(let reason):
      device.interruptions.remove(reason)
      activateIfNoReasonStands()
    case .memoryWarning: call(.didReceiveMemoryWarning)
    case .significantTimeChange:
      if state == .suspended { process.keepsTimeChange = true } else { call(.significantTimeChange) }
    case .fetch: if state.isInMemory { wake() } else { launchInBackground() }
    case .suspend: commit(.suspended)
    case .wake: wake()
    // `Application` asks the delegate before it passes `.terminate` on, so both inputs end the application here.
    case .terminate, .shutDown: terminate()
    case .connectScene(let id):
      connect(id)
      commitScene(id, .background)
    case .openScene(let id): open(id)
    case .sendSceneToBackground(let id): leaveForeground([id])
    case .unfocusScene(let id):
      setFocus(false, of: id)
      resign([id])
    case .focusScene(let id):
      setFocus(true, of: id)
      activateIfNoReasonStands()
    case .reclaimScene(let id): disconnect([id])
    case .closeScene(let id): close(id)
    }
  }

  private mutating func perform(_ input: DeviceInput) {
    switch input {
    case .openSwitcher:
      process.switcherIsOpen = true
      resign(process.scenes.inForeground)
    case .returnFromSwitcher:
      process.switcherIsOpen = false
      activateIfNoReasonStands()
    case .leaveThroughSwitcher: leaveForeground(process.scenes.inForeground)
    case .killFromSwitcher: terminate()
    case .reclaim, .crash, .purge: loseProcess()
    case .reboot:
      if state.isInMemory { loseProcess() }
      device.isLocked = false
      device.dataIsProtected = false
      device.interruptions = []
    }
  }

  /// With scenes, an application is in the background until its first scene is in the foreground.
  private mutating func launch(opening scene: SceneIdentifier) {
    process.isLaunching = true
    commit(profile == .scenes ? .background : .inactive)
    call(.willFinishLaunching)
    call(.didFinishLaunching)
    if profile == .scenes { enterForeground([scene]) } else { activateIfNoReasonStands() }
  }

  private mutating func launchInBackground() {
    process.knowsThatDataIsProtected = device.dataIsProtected
    commit(.background)
    call(.willFinishLaunching)
    call(.didFinishLaunching)
    guard callsDidEnterBackgroundOnBackgroundLaunch else { return }
    tellOfForeground(.didEnterBackground)
    effects.append(.awaitTearDown(of: .didEnterBackground))
  }

  /// Lets a suspended application run in the background, and catches up on what happened meanwhile.
  private mutating func wake() {
    commit(.background)
    tellOfDataProtection()
    tellOfKeptTimeChange()
  }

  private mutating func open(_ scene: SceneIdentifier) {
    if state.isInMemory { enterForeground(profile == .scenes ? [scene] : []) } else { launch(opening: scene) }
  }

  private mutating func close(_ scene: SceneIdentifier) {
    leaveForeground([scene])
    disconnect([scene])
    forgetReturn(of: scene)
    effects.append(.endSession(scene))
  }

  /// Keeps a window that was closed while the screen was locked from coming back at the unlock; it may have no scene.
  mutating func forgetReturn(of scene: SceneIdentifier) { process.foregroundWhenLocked?.removeAll { $0 == scene } }

  private mutating func lock() {
    device.isLocked = true
    device.dataIsProtected = device.lockProtectsData
    process.foregroundWhenLocked = state.isForeground ? process.scenes.inForeground : nil
    leaveForeground(process.scenes.inForeground)
    tellOfDataProtection()
  }

  private mutating func unlock() {
    device.isLocked = false
    device.dataIsProtected = false
    tellOfDataProtection()
    guard let returning = process.foregroundWhenLocked else { return }
    process.foregroundWhenLocked = nil
    // All windows may have been closed while the screen was locked.
    if profile == .application || !returning.isEmpty { enterForeground(returning) }
  }

  private mutating func terminate() {
    guard state != .suspended else { return loseProcess() }
    leaveForeground(process.scenes.inForeground)
    disconnect(process.scenes.identifiers)
    call(.willTerminate)
    effects.append(.awaitTearDown(of: .willTerminate))
    endProcess()
  }

  private mutating func loseProcess() {
    effects.append(.loseProcess)
    endProcess()
  }

  private mutating func endProcess() {
    process = Process()
    commit(.notRunning)
  }
}
