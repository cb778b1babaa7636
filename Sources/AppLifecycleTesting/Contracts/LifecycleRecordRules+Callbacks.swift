internal import AppLifecycle

extension LifecycleRecordRules {
  /// Checks a call of a delegate method.
  mutating func call(_ record: LifecycleRecord) {
    expect(state.runsCode, "a call while \(state.rawValue)", record)
    expect(!told.isTerminating, "a call after willTerminate", record)
    if let callback = ApplicationCallback(rawValue: record.name) {
      expect(record.scene == nil, "the application's delegate is called for no scene", record)
      expect(profile == .application || !callback.isTakenOverByScenes, "with scenes this method is not called", record)
      if let name = callback.notificationName { owed = (name, nil) }
      if profile == .application || !callback.isTakenOverByScenes { take(callback, record) }
    } else if let callback = SceneCallback(rawValue: record.name) {
      expect(profile == .scenes, "an application without scenes has no scene delegate", record)
      owed = (callback.notificationName, record.scene)
      takeScene(callback, record)
    } else {
      expect(false, "no delegate has this method", record)
    }
  }

  /// Checks a post of a notification; with scenes, some notifications of the application come without a delegate call.
  mutating func post(_ record: LifecycleRecord, isOwed: Bool) {
    expect(state.runsCode, "a notification while \(state.rawValue)", record)
    guard !isOwed else { return }
    guard profile == .scenes, record.scene == nil,
      let callback = ApplicationCallback.allCases.first(where: { $0.notificationName == record.name }),
      callback.isTakenOverByScenes
    else { return expect(false, "a notification without its call", record) }
    take(callback, record)
    switch callback {
    case .didBecomeActive: expect(told.scenes.contains(where: \.isActive), "no scene is active", record)
    case .willResignActive: expect(!told.scenes.contains(where: \.isActive), "a scene is active still", record)
    case .willEnterForeground: expect(told.scenes.contains(where: \.isForeground), "no scene is in front", record)
    case .didEnterBackground: expect(!told.scenes.contains(where: \.isForeground), "a scene is in front", record)
    default: break
    }
  }

  private mutating func take(_ callback: ApplicationCallback, _ record: LifecycleRecord) {
    if callback != .willFinishLaunching, callback != .didFinishLaunching {
      expect(told.hasLaunched, "called before the launch is complete", record)
    }
    switch callback {
    case .willFinishLaunching:
      expect(!told.hasBegunLaunch, "launched twice", record)
      let isSeen = state == .background || state == .inactive && profile == .application
      expect(isSeen, "a launch does not see \(state.rawValue)", record)
      told.hasBegunLaunch = true
    case .didFinishLaunching:
      expect(told.hasBegunLaunch && !told.hasLaunched, "a launch that did not begin, or a second one", record)
      told.hasLaunched = true
      // A cold launch without scenes does not call willEnterForeground.
      told.isForeground = state == .inactive
      told.isNewInBackground = state == .background
    case .didBecomeActive:
      expect(state == .active, "it has to see active", record)
      expect(told.isForeground && !told.isActive, "active twice, or out of sight", record)
      told.isActive = true
    case .willResignActive:
      expect(state == .active, "it has to see active", record)
      expect(told.isActive, "resigned without having been active", record)
      told.isActive = false
    case .didEnterBackground:
      expect(state == .background, "it has to see background", record)
      // A configuration can ask for this call at a background launch, too.
      expect(told.isForeground || told.isNewInBackground, "in the background twice", record)
      expect(!told.isActive, "background while active", record)
      (told.isForeground, told.isNewInBackground) = (false, false)
    case .willEnterForeground:
      expect(state == .background, "it has to see background", record)
      expect(!told.isForeground, "in the foreground twice", record)
      (told.isForeground, told.isNewInBackground) = (true, false)
    case .shouldTerminate:
      for message in unrest { expect(false, message, record) }
      told.wasAsked = true
    case .willTerminate:
      expect(state == .background, "it has to see background", record)
      expect(!told.isForeground && !told.isActive, "terminated in front", record)
      let asks = record.cause == LifecycleCause(.terminate)
      expect(told.wasAsked || !asks, "terminated without having been asked", record)
      told.isTerminating = true
    case .protectedDataWillBecomeUnavailable, .protectedDataDidBecomeAvailable:
      expect(state == .background, "protected data goes and comes in the background", record)
    case .didReceiveMemoryWarning, .significantTimeChange: break
    }
  }
}

// MARK: - Scenes

extension LifecycleRecordRules {
  private mutating func takeScene(_ method: SceneCallback, _ record: LifecycleRecord) {
    guard let id = record.scene else { return expect(false, "of which scene?", record) }
    if method == .willConnect {
      expect(!told.scenes.contains { $0.id == id }, "connected twice", record)
      return told.scenes.append(SceneTold(id: id))
    }
    guard let index = told.scenes.firstIndex(where: { $0.id == id }) else {
      return expect(false, "the scene is not connected", record)
    }
    let scene = told.scenes[index]
    switch method {
    case .willConnect: break
    case .willEnterForeground:
      expect(!scene.isForeground, "in the foreground twice", record)
      told.scenes[index].isForeground = true
    case .didBecomeActive:
      expect(scene.isForeground && !scene.isActive, "active twice, or out of sight", record)
      told.scenes[index].isActive = true
    case .willResignActive:
      expect(scene.isActive, "resigned without having been active", record)
      told.scenes[index].isActive = false
    case .didEnterBackground:
      expect(scene.isForeground && !scene.isActive, "background while active, or twice", record)
      told.scenes[index].isForeground = false
    case .didDisconnect:
      expect(!scene.isForeground, "disconnected in front", record)
      told.scenes.remove(at: index)
    }
  }
}

extension ApplicationCallback {
  /// Whether, with scenes, the scene's delegate is called instead of the application's.
  fileprivate var isTakenOverByScenes: Bool {
    switch self {
    case .didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground: true
    default: false
    }
  }
}
